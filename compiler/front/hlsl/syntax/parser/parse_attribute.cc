// SPDX-License-Identifier: MIT
// Only attributes that the table knows have arguments of a known form, expressions and words; what
// an unknown one holds is skipped by its brackets. See spec/hlsl 5.3 (attrs), 20
#include "compiler/front/hlsl/syntax/parser/parse_attribute.h"

#include <algorithm>
#include <array>

#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {
namespace {

struct AttributeRow {
  AttributeName name;
  std::string_view space;
  std::string_view text;
  std::string_view family;
};
constexpr auto kRows = std::to_array<AttributeRow>({
#define KILN_HLSL_ATTRIBUTE(enumerator, space, text, family) \
  {AttributeName::k##enumerator, space, text, family},
#include "compiler/front/hlsl/syntax/attributes.def"
});

// `using Vulkan:` of the seed names those of vk, and `set` besides.
const AttributeRow* FindAttribute(std::string_view space, std::string_view text) {
  const auto* row = std::ranges::find_if(kRows, [&](const AttributeRow& r) {
    return r.text == text && (r.space == space || (space == "Vulkan" && r.space == "vk"));
  });
  return row == kRows.end() ? nullptr : row;
}

}  // namespace

// Attributes of both forms in any order. One with an error is left behind its bracket, so the
// statement behind it is read all the same.
RowRange AttributeParser::Attributes() {
  RowRange range{.first = static_cast<uint32_t>(context_.ast.attributes.size())};
  while (context_.at.At(TokenKind::kOpenBracket)) {
    const uint32_t open = context_.at.pos();
    const Level level(context_);
    const bool ok = context_.at.Kind(1) == TokenKind::kOpenBracket ? Scoped() : Plain();
    if (!ok && !context_.recovery.RecoverBehind(open)) {
      break;
    }
  }
  range.count = static_cast<uint32_t>(context_.ast.attributes.size()) - range.first;
  return range;
}

// '[' ID [ '(' args ')' ] ']'
bool AttributeParser::Plain() {
  const uint32_t open = context_.at.Advance();
  return One("", context_.at.pos()) &&
         context_.errors.ExpectClose(TokenKind::kCloseBracket, {"attribute"}, open);
}

// '[' '[' attr { ',' attr } ']' ']'
// `using Vulkan:` holds for all names up to the `]`, a `vk::` only for its own.
bool AttributeParser::Scoped() {
  TokenCursor& at = context_.at;
  const uint32_t open = at.Advance();
  at.Advance();
  std::string_view used;
  do {
    const uint32_t begin = at.pos();
    if (at.At(TokenKind::kUsing)) {
      at.Advance();
      uint32_t space = kNone;
      if (!context_.errors.ExpectName("a name after 'using'", &space) ||
          !context_.errors.Expect(TokenKind::kColon, {"attribute name space", space})) {
        return false;
      }
      used = at.Text(space);
    }
    std::string_view space = used;
    if (at.At(TokenKind::kIdentifier) && at.Kind(1) == TokenKind::kScope) {
      space = at.Text(at.Advance());
      at.Advance();
    }
    if (!One(space, begin)) {
      return false;
    }
  } while (at.Accept(TokenKind::kComma));
  return context_.errors.ExpectClose(TokenKind::kCloseBracket, {"attribute"}, open + 1) &&
         context_.errors.ExpectClose(TokenKind::kCloseBracket, {"attribute"}, open);
}

// An attribute that is known and built, one of a family that is not built, or none: spec/hlsl
// 20.
bool AttributeParser::One(std::string_view space, uint32_t begin) {
  TokenCursor& at = context_.at;
  uint32_t token = kNone;
  if (!context_.errors.ExpectName("the name of an attribute", &token)) {
    return false;
  }
  const AttributeRow* row = FindAttribute(space, at.Text(token));
  if (row != nullptr && row->family.empty()) {
    return Known(row->name, token, begin);
  }
  if (row == nullptr) {
    context_.errors.Report(Code::kHlsl1047, token, token, {{"name", at.TextOfToken(token)}});
  } else {
    context_.errors.RefuseFamily(token, token, row->family);
  }
  // Of the last two nothing is known of their arguments, so these are skipped as brackets.
  if (at.At(TokenKind::kOpenParen)) {
    context_.recovery.SkipBrackets();
  }
  return true;
}

// Rows of attributes are in the order of the source, without the ones that were not kept.
bool AttributeParser::Known(AttributeName name, uint32_t token, uint32_t begin) {
  Attribute attribute{.name = name, .token = token, .begin = begin};
  if (context_.at.At(TokenKind::kOpenParen) && !Arguments(&attribute.arguments, token)) {
    return false;
  }
  attribute.end = context_.at.pos();
  context_.ast.attributes.push_back(attribute);
  return true;
}

bool AttributeParser::Arguments(uint32_t* list, uint32_t name) {
  const Level level(context_);
  TokenCursor& at = context_.at;
  const uint32_t open = at.Advance();
  while (!at.At(TokenKind::kCloseParen)) {
    ExprRange argument;
    if (!Argument(&argument)) {
      return false;
    }
    context_.items.push_back(argument.first);
    context_.items.push_back(argument.root);
    if (!at.Accept(TokenKind::kComma)) {
      break;
    }
  }
  if (!context_.errors.ExpectClose(TokenKind::kCloseParen, {"attribute", name}, open)) {
    return false;
  }
  *list = level.TakeList();
  return true;
}

// A word that stands alone is a name, also where it is that of a type: `kiln::pack(float16)`.
bool AttributeParser::Argument(ExprRange* range) {
  TokenCursor& at = context_.at;
  const bool alone = at.At(TokenKind::kIdentifier) &&
                     (at.Kind(1) == TokenKind::kComma || at.Kind(1) == TokenKind::kCloseParen);
  if (!alone) {
    return parsers_.expressions.Expression(range, ExprEnd::kComma);
  }
  const uint32_t token = at.Advance();
  const auto row = static_cast<uint32_t>(context_.ast.exprs.size());
  parsers_.expressions.AddOperand({.kind = ExprKind::kName, .token = token, .first = row}, token);
  *range = {row, row};
  return true;
}

}  // namespace kiln::hlsl::syntax
