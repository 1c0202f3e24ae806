// SPDX-License-Identifier: MIT
// What the features of one editor share: its documents, what it understands, and what is sent to
// it. One thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "client/lsp/analysis/analysis.h"
#include "client/lsp/diagnostics/reports.h"
#include "client/lsp/features/builtin_text.h"
#include "client/lsp/protocol/message.h"
#include "client/lsp/protocol/position.h"
#include "compiler/base/digest.h"

namespace kiln::lsp {

// What a client said that it can do.
struct ClientAbilities {
  bool snippets = false;        // in completion
  bool show_choices = false;    // window/showMessageRequest
  bool refresh_lenses = false;  // workspace/codeLens/refresh, and so on
  bool refresh_hints = false;
  bool refresh_tokens = false;
  bool related_information = false;  // in diagnostics
  bool pull_diagnostics = false;     // asks for diagnostics, and again when it is told to
  bool progress = false;             // window/workDoneProgress/create
  bool markdown = true;              // in hover
};
ClientAbilities AbilitiesOf(const Json& initialize_params);

struct Session {
  Analysis analysis;
  Encoding encoding = Encoding::kUtf16;
  ClientAbilities abilities;
  // Diagnostics as they were shown last, with what would mend them: by path.
  struct ShownFix {
    Json diagnostic;
    Span bytes;
    std::string replacement;
    bool sure = false;
    Span at;        // of the diagnostic
    Digest digest;  // of the text that it is about
  };
  std::map<std::string, std::vector<ShownFix>> fixes;
  Reports reports;
  // Inbuilt functions by version of the language, made when first asked for.
  std::map<uint32_t, std::vector<BuiltinText>> builtins;
  bool variant_changed = false;  // what is shown of variants must be asked for again

  Documents& documents() { return analysis.documents(); }
};

// An open document, as requests name it.
struct OpenFile {
  std::string uri;
  std::string path;
  const TextDocument* document = nullptr;

  Position At(const Session& session, uint32_t offset) const {
    return document->lines().At(document->text(), offset, session.encoding);
  }
  Range RangeOf(const Session& session, Span bytes) const {
    return {.start = At(session, bytes.begin), .end = At(session, bytes.end)};
  }
};

// "textDocument/uri" of a request. Errors: kInvalidParams if it is not open, kRequestFailed if its
// text was lost.
std::variant<OpenFile, RpcError> FileOf(Session& session, const Json& params);

// The same with "position".
struct Spot {
  OpenFile file;
  uint32_t offset = 0;
};
std::variant<Spot, RpcError> SpotOf(Session& session, const Json& params);

// A place in any source of a program, open or not.
Json LocationOf(Session& session, const Source& source, Span bytes);
Range RangeIn(const Session& session, const Source& source, Span bytes);

}  // namespace kiln::lsp
