// SPDX-License-Identifier: MIT
// textDocument/codeAction: the edits that diagnostics propose. One that says what was meant is
// preferred; a guess is offered.
#include "client/lsp/features/code_actions.h"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::lsp {
namespace {

// The title says what the fix does to the text, so that it can be chosen without a preview. Long
// texts and further lines are cut, because editors show one short line.
std::string TitleOf(std::string_view before, const Session::ShownFix& fix) {
  static constexpr size_t kMost = 60;  // bytes of a text in a title
  const auto shortened = [](std::string_view text) {
    const size_t line = std::min(text.find('\n'), text.size());
    text = text.substr(0, std::min(line, kMost));
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0u) == 0x80u) {
      text.remove_suffix(1);  // not in the middle of a character
    }
    return text;
  };
  if (fix.replacement.empty()) {
    return fmt::format("Remove '{}'", shortened(before));
  }
  return before.empty()
             ? fmt::format("Insert '{}'", shortened(fix.replacement))
             : fmt::format("Replace '{}' by '{}'", shortened(before), shortened(fix.replacement));
}

}  // namespace

Outcome CodeActions(Session& session, const Json& params) {
  std::variant<OpenFile, RpcError> read = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const OpenFile& open = std::get<OpenFile>(read);
  const std::optional<Range> range = ReadRange(Find(params, "range"));
  if (!range.has_value()) {
    return InvalidParams("codeAction needs a range");
  }
  const std::string& text = open.document->text();
  Json actions = Json::array();
  for (const Session::ShownFix& fix : session.fixes[open.path]) {
    const Range at = open.RangeOf(session, fix.at);
    // A fix is about one version of the text. After an edit it is not offered until the diagnostics
    // of the new text are there, since its positions would be those of other bytes.
    const bool is_current =
        fix.bytes.end <= text.size() && fix.digest == open.document->file()->digest;
    if (!is_current || at.end < range->start || range->end < at.start) {
      continue;
    }
    const Json edit{{"range", JsonOf(open.RangeOf(session, fix.bytes))},
                    {"newText", fix.replacement}};
    actions.push_back({{"title", TitleOf(TextOf(text, fix.bytes), fix)},
                       {"kind", "quickfix"},
                       {"isPreferred", fix.sure},
                       {"diagnostics", Json::array({fix.diagnostic})},
                       {"edit", {{"changes", {{open.uri, Json::array({edit})}}}}}});
  }
  return actions;
}

}  // namespace kiln::lsp
