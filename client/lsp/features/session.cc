// SPDX-License-Identifier: MIT
// What all requests share: abilities of the client, the document and the place that a request
// names.
#include "client/lsp/features/session.h"

#include <fmt/format.h>

namespace kiln::lsp {

// What a client does not name it cannot do.
ClientAbilities AbilitiesOf(const Json& params) {
  const auto can = [&](std::string_view path) {
    return FlagAt(params, "capabilities/" + std::string(path)).value_or(false);
  };
  ClientAbilities abilities;
  abilities.snippets = can("textDocument/completion/completionItem/snippetSupport");
  abilities.show_choices =
      FindPath(params, "capabilities/window/showMessage/messageActionItem") != nullptr;
  abilities.refresh_lenses = can("workspace/codeLens/refreshSupport");
  abilities.refresh_hints = can("workspace/inlayHint/refreshSupport");
  abilities.refresh_tokens = can("workspace/semanticTokens/refreshSupport");
  abilities.related_information = can("textDocument/publishDiagnostics/relatedInformation");
  abilities.progress = can("window/workDoneProgress");
  // One of both ways, never both: an editor would show each message twice. Variants are tried
  // behind an answer, so a client that cannot be told to ask again is better served by what is
  // published.
  abilities.pull_diagnostics =
      FindPath(params, "capabilities/textDocument/diagnostic") != nullptr &&
      can("workspace/diagnostics/refreshSupport");
  const Json* formats = FindPath(params, "capabilities/textDocument/hover/contentFormat");
  // A client that names no format gets Markdown, else the first format of its list is its
  // favourite.
  abilities.markdown = formats == nullptr || !formats->is_array() || formats->empty() ||
                       formats->front() == "markdown";
  return abilities;
}

// Every request about a document begins here, so a document that is not open is refused with the
// same words everywhere.
std::variant<OpenFile, RpcError> FileOf(Session& session, const Json& params) {
  const std::optional<std::string> uri = TextAt(params, "textDocument/uri");
  if (!uri.has_value()) {
    return InvalidParams("textDocument.uri is missing");
  }
  const TextDocument* document = session.documents().Find(*uri);
  if (document == nullptr) {
    // A lost document is the client's fault that it can heal by sending its text, hence another
    // code than that of a wrong request.
    return session.documents().IsLost(*uri)
               ? Failed(fmt::format("the text of '{}' is not known any more", *uri))
               : InvalidParams(fmt::format("'{}' is not open", *uri));
  }
  return OpenFile{.uri = *uri, .path = Documents::NameOf(*uri), .document = document};
}

// The offset is one of the document's text and may be its size.
std::variant<Spot, RpcError> SpotOf(Session& session, const Json& params) {
  std::variant<OpenFile, RpcError> file = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&file)) {
    return std::move(*error);
  }
  // A character beyond the end of its line is allowed by the protocol and means the end; a line
  // beyond the text is not.
  const std::optional<Position> position = ReadPosition(Find(params, "position"));
  if (!position.has_value()) {
    return InvalidParams("position needs line and character, both numbers of 31 bits");
  }
  const TextDocument& document = *std::get<OpenFile>(file).document;
  const std::optional<uint32_t> offset =
      document.lines().OffsetOf(document.text(), *position, session.encoding);
  if (!offset.has_value()) {
    return InvalidParams(fmt::format("line {} is not in a text of {} lines", position->line,
                                     document.lines().line_count()));
  }
  return Spot{.file = std::move(std::get<OpenFile>(file)), .offset = *offset};
}

// Both ends in the units that the client chose.
Range RangeIn(const Session& session, const Source& source, Span bytes) {
  const std::string& text = source.file().text;
  return {.start = source.lines().At(text, bytes.begin, session.encoding),
          .end = source.lines().At(text, bytes.end, session.encoding)};
}

Json LocationOf(Session& session, const Source& source, Span bytes) {
  return {{"uri", session.documents().UriOfPath(source.file().path)},
          {"range", JsonOf(RangeIn(session, source, bytes))}};
}

}  // namespace kiln::lsp
