// SPDX-License-Identifier: MIT
// Formats one source (spec/cli 6.14). The text is lexed and parsed only to make sure that it is a
// program; the formatter itself works on tokens and never changes anything but white space between
// them.
#include "client/format/format_file.h"

#include <fmt/format.h>

#include "client/format/format_rpl.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/rpl/lex.h"
#include "compiler/front/rpl/parse.h"
#include "compiler/source/line_index.h"

namespace kiln::format {
namespace {

Error Wrong(std::string text) {
  return {
      .code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "SOURCE_WRONG"};
}

}  // namespace

Result<std::string> FormatFile(const std::string& path, std::string_view text) {
  if (!path.ends_with(".rpl")) {
    return Wrong(fmt::format("'{}': only sources of RPL, *.rpl, have a style", path));
  }
  const rpl::LexResult tokens = rpl::Lex(text, 0);
  const rpl::ParseResult parsed = rpl::ParseTokens(text, tokens, 0);
  // The first error is enough: a text that does not parse is not formatted at all, because its
  // braces may not be what they seem.
  for (const Diagnostic& found : parsed.diagnostics) {
    if (found.severity == Severity::kError) {
      const LineColumn at = LineIndex(text).At(found.primary.bytes.begin);
      return Wrong(fmt::format("{}:{}:{}: {}", path, at.line, at.column, Message(found)));
    }
  }
  return Apply(text, FormatRpl(text, tokens));
}

}  // namespace kiln::format
