// SPDX-License-Identifier: MIT
// Arguments of `builtin`, `interpolate` and `diagnostic` are words that mean something only there,
// so no declaration of the module is mentioned by them.
#include "compiler/front/wgsl/syntax/parser/parse_attribute.h"

#include <string_view>
#include <vector>

#include "compiler/front/wgsl/syntax/parser/parse_expr.h"

namespace kiln::wgsl::front::syntax {
namespace {

bool TakesWords(std::string_view name) {
  return name == "builtin" || name == "interpolate" || name == "diagnostic";
}

// Tokens are kept as they stand: what the words mean is found when the attribute is checked. A
// dot is taken for `diagnostic(off, chromium.unreachable_code)`.
ListId Words(ParseContext& context) {
  std::vector<uint32_t> words;
  context.Expect(TokenKind::kOpenParen);
  while (!context.failed && !context.Is(TokenKind::kCloseParen)) {
    words.push_back(context.at);
    context.Expect(TokenKind::kIdentifier);
    if (!context.Accept(TokenKind::kComma) && !context.Accept(TokenKind::kPeriod)) {
      break;
    }
  }
  context.Expect(TokenKind::kCloseParen);
  return context.failed ? ListId{} : context.AddList(words);
}

}  // namespace

// Any number of attributes in front of something. Which of them may stand there is no question
// of syntax: see check/attribute.
ListId ParseAttributes(ParseContext& context) {
  std::vector<uint32_t> rows;
  while (context.Is(TokenKind::kAt) && !context.failed) {
    const uint32_t begin = context.at;
    context.Next();
    const uint32_t name = context.at;
    // `@const` and `@diagnostic` are keywords elsewhere.
    if (!context.Accept(TokenKind::kDiagnostic) && !context.Accept(TokenKind::kConst) &&
        !context.Expect(TokenKind::kIdentifier)) {
      break;
    }
    Attribute row{.token = name, .at = {}, .arguments = {}, .words = {}};
    if (context.Is(TokenKind::kOpenParen)) {
      if (TakesWords(context.stream.Text(name))) {
        row.words = Words(context);
      } else {
        row.arguments = ParseArguments(context);
      }
    }
    row.at = {begin, context.at};
    rows.push_back(static_cast<uint32_t>(context.ast.attributes.size()));
    context.ast.attributes.push_back(row);
  }
  return context.failed ? ListId{} : context.AddList(rows);
}

}  // namespace kiln::wgsl::front::syntax
