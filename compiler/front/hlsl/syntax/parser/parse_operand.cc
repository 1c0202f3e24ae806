// SPDX-License-Identifier: MIT
// Names decide what stands here: `T (…)` constructs, `f (…)` calls, `(T) x` converts, `(x)` is a
// group. See spec/hlsl 5.3 (unary, postfix)
#include "compiler/front/hlsl/syntax/parser/parse_operand.h"

#include <bit>
#include <string>

#include "compiler/front/hlsl/syntax/parser/lookahead.h"
#include "compiler/front/hlsl/syntax/parser/parsers.h"

namespace kiln::hlsl::syntax {
namespace {

// Those that have a row of their own; a cast is told by its type.
std::optional<UnaryOp> PrefixOperator(TokenKind kind) {
  switch (kind) {
    case TokenKind::kPlus:
      return UnaryOp::kPlus;
    case TokenKind::kMinus:
      return UnaryOp::kNegate;
    case TokenKind::kNot:
      return UnaryOp::kNot;
    case TokenKind::kComplement:
      return UnaryOp::kComplement;
    case TokenKind::kIncrement:
      return UnaryOp::kPreIncrement;
    case TokenKind::kDecrement:
      return UnaryOp::kPreDecrement;
    default:  // no operator that stands before its operand
      return std::nullopt;
  }
}

// Values of 64 bits are kept as two words of a row.
constexpr uint32_t LowWord(uint64_t bits) { return static_cast<uint32_t>(bits); }
constexpr uint32_t HighWord(uint64_t bits) { return static_cast<uint32_t>(bits >> 32); }

}  // namespace

// Prefix operators and casts wait on the stack of operators and bind stronger than all binary
// ones. A loop, not recursion, but each counts as a level.
bool OperandParser::Prefixed(Operand* operand) {
  TokenCursor& at = context_.at;
  while (true) {
    if (const std::optional<UnaryOp> op = PrefixOperator(at.Kind())) {
      if (!context_.Enter(at.pos())) {
        return false;
      }
      parsers_.expressions.PushUnary(*op, at.Advance());
    } else if (at.At(TokenKind::kOpenParen) && AtCast(at, context_.names)) {
      if (!Cast()) {
        return false;
      }
    } else {
      return Primary(operand) && Postfix(operand);
    }
  }
}

// '(' type ')'; the operand follows.
bool OperandParser::Cast() {
  const uint32_t open = context_.at.pos();
  if (!context_.Enter(open)) {
    return false;
  }
  context_.at.Advance();
  uint32_t type = kNone;
  uint32_t first = kNone;
  if (!TypeRows(Extents::kAllowed, &type, &first) ||
      !context_.errors.ExpectClose(TokenKind::kCloseParen, {"cast"}, open)) {
    return false;
  }
  parsers_.expressions.PushCast(type, open, first);
  return true;
}

// A type inside an expression. Rows of its arguments and extents are no operands, so a marker
// stands before them; `first` is that marker, or kNone if there are none.
bool OperandParser::TypeRows(Extents extents, uint32_t* type, uint32_t* first) {
  const uint32_t marker = NextRow();
  parsers_.expressions.Add(
      {.kind = ExprKind::kTypeRows, .token = context_.at.pos(), .first = marker});
  const bool ok = extents == Extents::kAllowed ? parsers_.types.TypeWithExtents(type)
                                               : parsers_.types.SimpleType(type);
  if (!ok) {
    return false;
  }
  // Most types have neither arguments nor extents: the marker goes again.
  if (NextRow() == marker + 1) {
    context_.ast.exprs.pop_back();
    *first = kNone;
    return true;
  }
  context_.ast.exprs[marker].a = NextRow();
  *first = marker;
  return true;
}

// What an operand begins with.
bool OperandParser::Primary(Operand* operand) {
  TokenCursor& at = context_.at;
  ExpressionParser& rows = parsers_.expressions;
  const uint32_t token = at.pos();
  const uint32_t first = NextRow();
  switch (at.Kind()) {
    case TokenKind::kIdentifier:
    case TokenKind::kScope:
      return Name(operand);
    case TokenKind::kOpenParen:
      return Group(operand);
    case TokenKind::kInteger:
      Integer(operand);
      return true;
    case TokenKind::kFloat:
      Float(operand);
      return true;
    case TokenKind::kString:
      String(operand);
      return true;
    case TokenKind::kTrue:
    case TokenKind::kFalse: {
      const uint32_t value = at.At(TokenKind::kTrue) ? 1 : 0;
      at.Advance();
      *operand = rows.AddOperand(
          {.kind = ExprKind::kBool, .token = token, .first = first, .a = value}, token);
      return true;
    }
    case TokenKind::kThis:
      at.Advance();
      *operand = rows.AddOperand({.kind = ExprKind::kThis, .token = token, .first = first}, token);
      return true;
    default:  // nothing that starts an operand
      return context_.errors.FailHere("an expression");
  }
}

// What follows a literal is right, whatever is wrong with it.
void OperandParser::CheckLiteral(uint32_t token, LiteralError error, uint32_t bits) {
  const std::string text = context_.at.TextOfToken(token);
  if (error == LiteralError::kMalformed) {
    context_.errors.Report(Code::kHlsl1005, token, token, {{"text", text}});
  } else if (error == LiteralError::kTooLarge) {
    context_.errors.Report(Code::kHlsl1006, token, token, {{"text", text}, {"bits", bits}});
  }
}

// The suffix is kept beside the value; what type it makes is decided when types are known.
void OperandParser::Integer(Operand* operand) {
  const uint32_t token = context_.at.Advance();
  const IntegerLiteral literal = ReadInteger(context_.at.Text(token));
  *operand = parsers_.expressions.AddOperand({.kind = ExprKind::kInteger,
                                              .op = static_cast<uint8_t>(literal.suffix),
                                              .token = token,
                                              .first = NextRow(),
                                              .a = LowWord(literal.value),
                                              .b = HighWord(literal.value)},
                                             token);
  CheckLiteral(token, literal.error, 64);
}

// The value is a double, whatever the suffix is. It is rounded to its type when that is known.
void OperandParser::Float(Operand* operand) {
  const uint32_t token = context_.at.Advance();
  const FloatLiteral literal = ReadFloat(context_.at.Text(token));
  const auto bits = std::bit_cast<uint64_t>(literal.value);
  *operand = parsers_.expressions.AddOperand({.kind = ExprKind::kFloat,
                                              .op = static_cast<uint8_t>(literal.suffix),
                                              .token = token,
                                              .first = NextRow(),
                                              .a = LowWord(bits),
                                              .b = HighWord(bits)},
                                             token);
  CheckLiteral(token, literal.error, literal.width);
}

// Strings that follow each other are one (spec/hlsl 5.3), and the limit is on the whole.
void OperandParser::String(Operand* operand) {
  TokenCursor& at = context_.at;
  std::string& text = context_.ast.text;
  const uint32_t begin = at.pos();
  const auto offset = static_cast<uint32_t>(text.size());
  while (at.At(TokenKind::kString)) {
    AppendString(at.Text(at.Advance()), text);
  }
  const auto length = static_cast<uint32_t>(text.size()) - offset;
  if (length > context_.limits.string) {
    context_.errors.Report(Code::kHlsl1007, begin, begin,
                           {{"what", "string"},
                            {"size", std::to_string(length) + " bytes"},
                            {"limit", context_.limits.string}});
  }
  *operand = parsers_.expressions.AddOperand(
      {.kind = ExprKind::kString, .token = begin, .first = NextRow(), .a = offset, .b = length},
      begin);
}

// A group is no row: its flag says that it cannot be called, and its beginning that it is
// underlined with its parentheses.
bool OperandParser::Group(Operand* operand) {
  const Level level(context_);
  const uint32_t open = context_.at.pos();
  if (!context_.Enter(open)) {
    return false;
  }
  context_.at.Advance();
  if (!parsers_.expressions.Operators(operand, ExprEnd::kNone) ||
      !context_.errors.ExpectClose(TokenKind::kCloseParen, {"expression in '('"}, open)) {
    return false;
  }
  context_.ast.exprs[operand->row].flags |= Expr::kParenthesised;
  operand->begin = open;
  return true;
}

// A constructor, or a name that may be called. Its path is a list of tokens, the '::' left out.
bool OperandParser::Name(Operand* operand) {
  TokenCursor& at = context_.at;
  if (AtType(at, context_.names)) {
    return Constructor(operand);
  }
  const uint32_t begin = at.pos();
  const bool global = at.Accept(TokenKind::kScope);
  uint32_t path = kNone;
  if (at.At(TokenKind::kIdentifier) && at.Kind(1) == TokenKind::kScope) {
    const Level level(context_);
    while (at.At(TokenKind::kIdentifier) && at.Kind(1) == TokenKind::kScope) {
      context_.items.push_back(at.Advance());
      at.Advance();
    }
    path = level.TakeList();
  }
  if (!at.At(TokenKind::kIdentifier)) {
    return context_.errors.FailHere("a name after '::'");
  }
  const uint32_t name = at.Advance();
  *operand = parsers_.expressions.AddOperand({.kind = ExprKind::kName,
                                              .flags = global ? Expr::kGlobal : uint16_t{0},
                                              .token = name,
                                              .first = NextRow(),
                                              .a = path},
                                             begin);
  // The template list is read over, so that the call behind it is read.
  if (AtTemplateCall(at, context_.names)) {
    context_.errors.RefuseDialect(name, name, "templates");
    at.MoveTo(at.pos() + EndOfArguments(at, 0));
  }
  return true;
}

// type '(' args ')'
// `float3(…)`. A type without parentheses is no expression.
bool OperandParser::Constructor(Operand* operand) {
  const uint32_t begin = context_.at.pos();
  const uint32_t rows = NextRow();
  uint32_t type = kNone;
  uint32_t first = kNone;
  uint32_t list = kNone;
  if (!TypeRows(Extents::kRefused, &type, &first)) {
    return false;
  }
  if (!context_.at.At(TokenKind::kOpenParen)) {
    return context_.errors.FailHere("'(' after type '" + context_.at.TextOfToken(begin) + "'");
  }
  if (!Arguments(&list, {"constructor of", begin})) {
    return false;
  }
  *operand = parsers_.expressions.AddOperand(
      {.kind = ExprKind::kConstruct, .token = begin, .first = rows, .a = type, .b = list}, begin);
  return true;
}

// Arguments are expressions up to their comma. An empty one is an error of its own.
bool OperandParser::Arguments(uint32_t* list, const ConstructName& of) {
  const Level level(context_);
  TokenCursor& at = context_.at;
  const uint32_t open = at.pos();
  if (!context_.Enter(open)) {
    return false;
  }
  at.Advance();
  if (!at.At(TokenKind::kCloseParen)) {
    do {
      Operand item;
      if (!parsers_.expressions.Operators(&item, ExprEnd::kComma)) {
        return false;
      }
      context_.items.push_back(item.row);
    } while (at.Accept(TokenKind::kComma));
  }
  if (!context_.errors.ExpectClose(TokenKind::kCloseParen, of, open)) {
    return false;
  }
  *list = level.TakeList();
  return true;
}

// { '.' ID | '[' expr ']' | '(' args ')' | '++' | '--' }
// A loop, so `a.b.c[d](e)++` of any length needs no stack. Each step is an operand of a chain.
bool OperandParser::Postfix(Operand* operand) {
  for (uint32_t terms = 1;; ++terms) {
    bool ok = true;
    switch (context_.at.Kind()) {
      case TokenKind::kDot:
        ok = Member(operand);
        break;
      case TokenKind::kOpenBracket:
        ok = Index(operand);
        break;
      case TokenKind::kOpenParen:
        ok = Call(operand);
        break;
      case TokenKind::kIncrement:
        PostfixOperator(operand, UnaryOp::kPostIncrement);
        break;
      case TokenKind::kDecrement:
        PostfixOperator(operand, UnaryOp::kPostDecrement);
        break;
      default:  // an operator, or the end of the expression
        return true;
    }
    if (!ok) {
      return false;
    }
    if (terms == context_.limits.terms) {
      return context_.errors.Fail(Code::kHlsl1007, context_.at.pos(),
                                  {{"what", "expression"},
                                   {"size", std::to_string(terms + 1) + " operands"},
                                   {"limit", context_.limits.terms}});
    }
  }
}

// A member after a dot is a name and never a type, so it needs no look at the names that are
// declared.
bool OperandParser::Member(Operand* operand) {
  TokenCursor& at = context_.at;
  at.Advance();
  if (!at.At(TokenKind::kIdentifier)) {
    return context_.errors.FailHere("the name of a member after '.'");
  }
  const uint32_t name = at.Advance();
  *operand = parsers_.expressions.AddOperand(
      {.kind = ExprKind::kMember, .token = name, .first = operand->first, .a = operand->row},
      operand->begin);
  if (AtTemplateCall(at, context_.names)) {
    context_.errors.RefuseFamily(name, name, "templated methods");
    at.MoveTo(at.pos() + EndOfArguments(at, 0));
  }
  return true;
}

// Brackets recurse and count.
bool OperandParser::Index(Operand* operand) {
  const Level level(context_);
  const uint32_t open = context_.at.pos();
  if (!context_.Enter(open)) {
    return false;
  }
  context_.at.Advance();
  Operand index;
  if (!parsers_.expressions.Operators(&index, ExprEnd::kNone) ||
      !context_.errors.ExpectClose(TokenKind::kCloseBracket, {"index"}, open)) {
    return false;
  }
  *operand = parsers_.expressions.AddOperand({.kind = ExprKind::kIndex,
                                              .token = open,
                                              .first = operand->first,
                                              .a = operand->row,
                                              .b = index.row},
                                             operand->begin);
  return true;
}

// Only names and methods can be called.
bool OperandParser::Call(Operand* operand) {
  const Expr callee = context_.ast.exprs[operand->row];
  const bool callable = callee.kind == ExprKind::kName || callee.kind == ExprKind::kMember;
  const uint32_t open = context_.at.pos();
  if (!callable || (callee.flags & Expr::kParenthesised) != 0) {
    return context_.errors.FailHere("an operator");
  }
  context_.ast.exprs[operand->row].flags |= Expr::kCallee;
  uint32_t list = kNone;
  if (!Arguments(&list, {"call of", callee.token})) {
    return false;
  }
  *operand = parsers_.expressions.AddOperand({.kind = ExprKind::kCall,
                                              .token = open,
                                              .first = operand->first,
                                              .a = operand->row,
                                              .b = list},
                                             operand->begin);
  return true;
}

// The operand is the row before, so nothing has to wait for it.
void OperandParser::PostfixOperator(Operand* operand, UnaryOp op) {
  const uint32_t token = context_.at.Advance();
  *operand = parsers_.expressions.AddOperand({.kind = ExprKind::kUnary,
                                              .op = static_cast<uint8_t>(op),
                                              .token = token,
                                              .first = operand->first,
                                              .a = operand->row},
                                             operand->begin);
}

}  // namespace kiln::hlsl::syntax
