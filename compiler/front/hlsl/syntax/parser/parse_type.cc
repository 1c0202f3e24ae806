// SPDX-License-Identifier: MIT
// Two '>' in a row are one token to the lexer, `ConstantBuffer<vector<float, 4>>`: the inner list
// takes its first half and leaves the cursor on it. See spec/hlsl 5.3 (type, modifier), 6
#include "compiler/front/hlsl/syntax/parser/parse_type.h"

#include <algorithm>
#include <array>

#include "compiler/front/hlsl/syntax/parser/lookahead.h"
#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {
namespace {

// Words before the type of a parameter that belong to stages this build lacks.
struct StageWord {
  std::string_view text;
  std::string_view family;
};
constexpr auto kStageWords = std::to_array<StageWord>({
    {"point", "geometry stages"},
    {"line", "geometry stages"},
    {"triangle", "geometry stages"},
    {"lineadj", "geometry stages"},
    {"triangleadj", "geometry stages"},
    {"vertices", "mesh stages"},
    {"indices", "mesh stages"},
    {"primitives", "mesh stages"},
    {"payload", "mesh stages"},
});

}  // namespace

// Three ways to say what else may stand with a type: nothing, extents, or a record in its
// place.
bool TypeParser::SimpleType(uint32_t* row) { return Written(row, Records::kRefused, {}); }

bool TypeParser::TypeWithExtents(uint32_t* row) {
  uint32_t extents = kNone;
  if (!SimpleType(row) || !Extents(&extents)) {
    return false;
  }
  context_.ast.types[*row].extents = extents;
  return true;
}

bool TypeParser::TypeOrRecord(uint32_t* row, const RowRange& attributes) {
  return Written(row, Records::kAllowed, attributes);
}

// Modifiers may stand on both sides of the name. Their tokens are kept, so that a message can
// point to one.
bool TypeParser::Written(uint32_t* row, Records records, const RowRange& attributes) {
  const Level level(context_);
  Type type{.begin = context_.at.pos()};
  Modifiers(type);
  if (records == Records::kAllowed && AtRecord(context_.at)) {
    type.kind = TypeKind::kRecord;
    type.token = context_.at.pos();
    if (!parsers_.records.Record(&type.record, attributes)) {
      return false;
    }
  } else if (!Name(type)) {
    return false;
  }
  Modifiers(type);
  type.end = context_.at.pos();
  if (level.has_items()) {
    type.modifier_tokens = level.TakeList();
  }
  context_.ast.types.push_back(type);
  *row = static_cast<uint32_t>(context_.ast.types.size() - 1);
  return true;
}

// Each sets a bit; one that stands twice is found later, by its tokens.
void TypeParser::Modifiers(Type& type) {
  while (true) {
    const std::optional<Modifier> modifier = ModifierAt(context_.at, context_.names);
    if (!modifier) {
      if (!RefuseModifier()) {
        return;
      }
      continue;
    }
    type.modifiers |= BitOf(*modifier);
    if (context_.at.At(TokenKind::kInout)) {
      type.modifiers |= BitOf(Modifier::kOut);
    }
    context_.items.push_back(context_.at.Advance());
  }
}

// `triangle Vertex corner[3]`; a word that something else is declared as, or that a name follows,
// is itself a type or a name.
bool TypeParser::RefuseModifier() {
  TokenCursor& at = context_.at;
  if (!at.At(TokenKind::kIdentifier) || at.Kind(1) != TokenKind::kIdentifier ||
      at.Kind(2) != TokenKind::kIdentifier) {
    return false;
  }
  const auto* word = std::ranges::find(kStageWords, at.Text(at.pos()), &StageWord::text);
  if (word == kStageWords.end() ||
      context_.names.Find(at.SymbolOf(at.pos())).kind != NameKind::kUnknown) {
    return false;
  }
  context_.errors.RefuseFamily(at.pos(), at.pos(), word->family);
  at.Advance();
  return true;
}

// `void`, a path, or `struct S` for one that is declared.
bool TypeParser::Name(Type& type) {
  TokenCursor& at = context_.at;
  switch (at.Kind()) {
    case TokenKind::kVoid:
      type.kind = TypeKind::kVoid;
      type.token = at.Advance();
      return true;
    case TokenKind::kStruct:
    case TokenKind::kClass:
      at.Advance();
      type.flags = Type::kElaborated;
      return NamePath(type);
    case TokenKind::kIdentifier:
    case TokenKind::kScope:
      return NamePath(type);
    default:  // nothing that starts a type
      return context_.errors.FailHere("a type");
  }
}

// spec/hlsl 5.3: how many tokens a path has is known before they are read.
bool TypeParser::NamePath(Type& type) {
  TokenCursor& at = context_.at;
  const Path path = PathAt(at, context_.names);
  if (path.tokens == 0) {
    return context_.errors.FailHere("the name of a type");
  }
  const bool global = at.Accept(TokenKind::kScope);
  const uint32_t last = at.pos() + path.tokens - (global ? 2 : 1);
  const bool inbuilt = path.name.kind == NameKind::kInbuilt;
  type.kind = inbuilt                                 ? TypeKind::kInbuilt
              : path.name.kind == NameKind::kUnsigned ? TypeKind::kUnsigned
                                                      : TypeKind::kNamed;
  // Names of the path without the last one, which is the type.
  type.flags |= global ? Type::kGlobal : uint8_t{0};
  if (at.pos() < last) {
    const Level level(context_);
    for (; at.pos() < last; at.MoveTo(at.pos() + 2)) {
      context_.items.push_back(at.pos());
    }
    type.path = level.TakeList();
  }
  type.token = at.Advance();
  // `unsigned` may have an `int` behind it; alone it is one, too.
  if (type.kind == TypeKind::kUnsigned && at.At(TokenKind::kIdentifier) &&
      at.Text(at.pos()) == "int") {
    at.Advance();
  }
  // A name that is not declared may have arguments: it could be a template.
  const bool takes_arguments =
      !inbuilt || InbuiltNameArguments(path.name.inbuilt.name) != TypeArguments::kNone;
  return !takes_arguments || !at.At(TokenKind::kLess) || TemplateArguments(type);
}

// '<' arg { ',' arg } '>'
// `depth_` counts lists around, `half_` is true while a `>>` has closed the inner of two.
bool TypeParser::TemplateArguments(Type& type) {
  const Level level(context_);
  TokenCursor& at = context_.at;
  const uint32_t open = at.pos();
  if (!context_.Enter(open)) {
    return false;
  }
  at.Advance();
  ++depth_;
  Order order = Order::kFirst;
  bool ok = true;
  do {
    ok = Argument(order);
    order = Order::kLater;
  } while (ok && !half_ && at.Accept(TokenKind::kComma));
  ok = ok && (AcceptArgumentsEnd() ||
              context_.errors.FailUnclosed(TokenKind::kGreater, {"arguments of", type.token}, open,
                                           at.pos()));
  --depth_;
  half_ = ok && half_;
  if (ok) {
    type.arguments = level.TakeList();
  }
  return ok;
}

// The first argument is a type wherever it may be one, also one that is not declared; the others
// are sizes and counts, unless they begin like a type.
// `vector<float, 4>`: a type, then a size. An expression in a list ends at `>`.
bool TypeParser::Argument(Order order) {
  TokenCursor& at = context_.at;
  const Path path = PathAt(at, context_.names);
  const bool constructs = path.tokens != 0 && at.Kind(path.tokens) == TokenKind::kOpenParen;
  const bool named =
      order == Order::kFirst && path.tokens != 0 && path.name.kind != NameKind::kOther;
  TemplateArgument argument;
  const bool ok = !constructs && (named || AtType(at, context_.names))
                      ? SimpleType(&argument.type)
                      : parsers_.expressions.Expression(&argument.value, ExprEnd::kGreater);
  if (ok) {
    context_.items.push_back(static_cast<uint32_t>(context_.ast.arguments.size()));
    context_.ast.arguments.push_back(argument);
  }
  return ok;
}

// One `>`; or a `>>` of which the inner list takes the first half without moving, and the outer
// one the second half with it.
bool TypeParser::AcceptArgumentsEnd() {
  TokenCursor& at = context_.at;
  if (!half_ && at.Accept(TokenKind::kGreater)) {
    return true;
  }
  if (!at.At(TokenKind::kShiftRight) || (!half_ && depth_ < 2)) {
    return false;
  }
  if (half_) {
    at.Advance();
  }
  half_ = !half_;
  return true;
}

// An extent that is empty takes its number from the initialiser, or none: spec/hlsl 6.4.
bool TypeParser::Extents(uint32_t* list) {
  const Level level(context_);
  TokenCursor& at = context_.at;
  while (at.At(TokenKind::kOpenBracket)) {
    const uint32_t open = at.Advance();
    ExprRange extent;
    if (!at.At(TokenKind::kCloseBracket) &&
        !parsers_.expressions.Expression(&extent, ExprEnd::kComma)) {
      return false;
    }
    if (!context_.errors.ExpectClose(TokenKind::kCloseBracket, {"extent"}, open)) {
      return false;
    }
    context_.items.push_back(extent.first);
    context_.items.push_back(extent.root);
  }
  *list = level.has_items() ? level.TakeList() : kNone;
  return true;
}

}  // namespace kiln::hlsl::syntax
