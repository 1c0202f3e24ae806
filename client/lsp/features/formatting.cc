// SPDX-License-Identifier: MIT
// textDocument/formatting and rangeFormatting: what `kiln fmt` would change, as edits of white
// space. A text that does not parse is left as it is.
#include "client/lsp/features/formatting.h"

#include "client/format/format_rpl.h"

namespace kiln::lsp {
namespace {

Json EditsOf(Session& session, const OpenFile& open, std::optional<Span> within) {
  Json edits = Json::array();
  const std::shared_ptr<const Source> source = session.analysis.SourceOf(open.path);
  // White space of a text with an error is left alone, because a bracket that is missing would move
  // everything behind it.
  if (source == nullptr || !source->good()) {
    return edits;
  }
  // Gaps are edited one by one and not the whole text, so cursors and folds of the editor stay
  // where they are.
  for (const format::GapEdit& edit : format::FormatRpl(source->file().text, source->tokens())) {
    // The whole text is formatted also for a range, because the depth of a line comes from the text
    // before it. Only edits that lie in the range are sent.
    if (!within.has_value() ||
        (within->begin <= edit.bytes.begin && edit.bytes.end <= within->end)) {
      edits.push_back(
          {{"range", JsonOf(open.RangeOf(session, edit.bytes))}, {"newText", edit.text}});
    }
  }
  return edits;
}

}  // namespace

Outcome Format(Session& session, const Json& params) {
  std::variant<OpenFile, RpcError> read = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  return EditsOf(session, std::get<OpenFile>(read), std::nullopt);
}

Outcome FormatRange(Session& session, const Json& params) {
  std::variant<OpenFile, RpcError> read = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const OpenFile& open = std::get<OpenFile>(read);
  const std::optional<Range> range = ReadRange(Find(params, "range"));
  const LineTable& lines = open.document->lines();
  const std::string& text = open.document->text();
  if (!range.has_value() || range->start.line >= lines.line_count()) {
    return InvalidParams("rangeFormatting needs a range of the text");
  }
  const uint32_t last = std::min(range->end.line, lines.line_count() - 1);
  const uint32_t begin = lines.LineSpan(text, range->start.line).begin;
  // Whole lines are formatted. The line end before the first of them is taken in, since the
  // indentation of a line is part of the gap that begins there.
  return EditsOf(session, open,
                 Span{.begin = begin == 0 ? 0 : begin - 1, .end = lines.LineSpan(text, last).end});
}

}  // namespace kiln::lsp
