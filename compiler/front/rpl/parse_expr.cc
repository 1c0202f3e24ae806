// SPDX-License-Identifier: MIT
// Expressions: operator precedence with an explicit stack. Only brackets recurse, at most
// limits.nesting deep; chains of operators do not, which have at most limits.terms operands.
// See spec/rpl 1.4, 2.3, 14; spec/daemon 10
#include <algorithm>
#include <array>

#include "compiler/diag/spellings.h"
#include "compiler/front/rpl/operators.h"
#include "compiler/front/rpl/parser.h"

namespace kiln::rpl {
namespace {

bool IsPrefixOperator(TokenKind kind) {
  return kind == TokenKind::kMinus || kind == TokenKind::kNot || kind == TokenKind::kComplement ||
         kind == TokenKind::kPlus;
}

ir::UnaryOp PrefixOperator(TokenKind kind) {
  return kind == TokenKind::kMinus        ? ir::UnaryOp::kNegate
         : kind == TokenKind::kNot        ? ir::UnaryOp::kNot
         : kind == TokenKind::kComplement ? ir::UnaryOp::kComplement
                                          : ir::UnaryOp::kPlus;
}

// Precedences that bind to the right: a pending one of equal strength waits.
bool BindsRight(uint8_t precedence) {
  return precedence == kAssignment || precedence == kConditional;
}

bool Nests(uint8_t precedence) { return BindsRight(precedence) || precedence == kPrefix; }

}  // namespace

bool Parser::Expression(ExprRange* range) {
  const auto first = static_cast<uint32_t>(ast_.exprs.size());
  const uint32_t nesting = nesting_;
  const size_t pending = pending_.size();
  const size_t items = items_.size();
  Operand operand;
  const bool ok = Operators(&operand);
  nesting_ = nesting;
  pending_.resize(pending);
  items_.resize(items);
  if (ok) {
    *range = {first, operand.row};
  }
  return ok;
}

// expr, or, and, … mul of the grammar. Leaves the token behind the expression current.
bool Parser::Operators(Operand* operand) {
  const size_t base = pending_.size();
  for (uint32_t terms = 1;; ++terms) {
    if (!Prefixed(operand)) {
      return false;
    }
    const uint8_t precedence =
        Kind() == TokenKind::kQuestion ? uint8_t{kConditional} : OperatorOf(Kind()).precedence;
    while (pending_.size() > base && pending_.back().precedence >= precedence &&
           !(pending_.back().precedence == precedence && BindsRight(precedence))) {
      Reduce(operand);
    }
    if (precedence == kNotBinary) {
      return true;
    }
    if (terms == max_terms_) {
      return Fail(Code::kLim1001, SpanOf(pos_),
                  {{"what", "expression"}, {"parts", "terms"}, {"limit", max_terms_}});
    }
    if (Nests(precedence) && !EnterNested(pos_)) {
      return false;
    }
    if (!(precedence == kConditional ? PushSelect(*operand) : PushBinary(*operand))) {
      return false;
    }
  }
}

bool Parser::EnterNested(uint32_t token) {
  if (++nesting_ <= max_nesting_) {
    return true;
  }
  return Fail(Code::kRpl1009, SpanOf(token),
              {{"text", TextOfToken(token)}, {"limit", max_nesting_}});
}

bool Parser::PushBinary(const Operand& left) {
  const OperatorRow& row = OperatorOf(Kind());
  if (row.precedence == kAssignment && row.op != kPlainAssign) {
    NeedVersion2(pos_);
  }
  const uint32_t token = Advance();
  if (row.kind == ExprKind::kLogical) {
    AddExpr({.kind = ExprKind::kRight, .token = token, .span = left.span, .a = left.row});
  }
  pending_.push_back(
      {.precedence = row.precedence, .kind = row.kind, .op = row.op, .token = token, .left = left});
  return true;
}

// c ? a : …  up to the ':'; the third operand follows as the right side of a pending operator.
bool Parser::PushSelect(const Operand& condition) {
  NeedVersion2(pos_);
  const uint32_t token = Advance();
  AddExpr({.kind = ExprKind::kThen, .token = token, .span = condition.span, .a = condition.row});
  Operand then;
  if (!Operators(&then)) {
    return false;
  }
  if (!CloseExpression(TokenKind::kColon, {"'?'"}, token)) {
    return false;
  }
  AddExpr({.kind = ExprKind::kElse, .token = token, .span = then.span, .a = condition.row});
  pending_.push_back({.precedence = kConditional,
                      .kind = ExprKind::kSelect,
                      .op = 0,
                      .token = token,
                      .left = condition,
                      .then = then.row});
  return true;
}

void Parser::Reduce(Operand* operand) {
  const Pending pending = pending_.back();
  pending_.pop_back();
  if (Nests(pending.precedence)) {
    --nesting_;
  }
  Expr expr{.kind = pending.kind, .op = pending.op, .token = pending.token};
  if (pending.kind == ExprKind::kUnary) {
    expr.span = Cover(SpanOf(pending.token), operand->span);
    expr.a = operand->row;
  } else {
    expr.span = Cover(pending.left.span, operand->span);
    expr.a = pending.left.row;
    expr.b = operand->row;
  }
  if (pending.kind == ExprKind::kSelect) {
    expr.b = ast_.AddList(std::array{pending.then, operand->row});
  }
  const Span span = expr.span;
  *operand = {.row = AddExpr(expr), .span = span};
}

// { '-' | '!' | '~' | '+' } postfix; the operators stay pending.
bool Parser::Prefixed(Operand* operand) {
  while (IsPrefixOperator(Kind())) {
    if (!EnterNested(pos_)) {
      return false;
    }
    const ir::UnaryOp op = PrefixOperator(Kind());
    pending_.push_back({.precedence = kPrefix,
                        .kind = ExprKind::kUnary,
                        .op = static_cast<uint8_t>(op),
                        .token = Advance(),
                        .left = {}});
  }
  return Primary(operand) && Postfix(operand);
}

bool Parser::Primary(Operand* operand) {
  using enum TokenKind;
  switch (Kind()) {
    case kIdentifier:
      return Name(operand);
    case kOpenParen:
      return Group(operand);
    case kTrue:
    case kFalse:
      return Literal(operand, ExprKind::kFlag);
    case kFloat:
      return Literal(operand, ExprKind::kFloat);
    case kUnsigned:
    case kBinary:
    case kHexadecimal:
      return Literal(operand, ExprKind::kUint);
    case kDecimal:
    case kSigned:
      return Literal(operand, ExprKind::kSint);
    case kString:
      return Literal(operand, ExprKind::kString);
    default:  // nothing that starts an operand
      return FailOperandDue();
  }
}

bool Parser::Literal(Operand* operand, ExprKind kind) {
  const uint32_t token = pos_;
  const Span span = SpanOf(token);
  uint32_t bits = lexed_.tokens[token].value;
  if (kind == ExprKind::kFlag) {
    bits = Kind() == TokenKind::kTrue ? 1 : 0;
  }
  if (kind == ExprKind::kSint && bits == 0x80000000u) {
    const bool negated = !pending_.empty() && pending_.back().kind == ExprKind::kUnary &&
                         pending_.back().token + 1 == token &&
                         pending_.back().op == static_cast<uint8_t>(ir::UnaryOp::kNegate);
    if (!negated) {
      Report(Code::kRpl1006, span, {{"kind", "signed"}, {"text", TextOfToken(token)}});
    }
  }
  Advance();
  *operand = {.row = AddExpr({.kind = kind, .token = token, .span = span, .a = bits}),
              .span = span};
  return true;
}

bool Parser::Group(Operand* operand) {
  const uint32_t open = pos_;
  if (!EnterNested(open)) {
    return false;
  }
  Advance();
  if (!Operators(operand)) {
    return false;
  }
  if (!CloseExpression(TokenKind::kCloseParen, {"'('"}, open)) {
    return false;
  }
  operand->span = {SpanOf(open).begin, SpanOf(Previous()).end};
  --nesting_;
  return true;
}

// A name, a call or a constructor.
bool Parser::Name(Operand* operand) {
  const uint32_t name = Advance();
  SkipTypeArguments(name);
  const TokenKind next = Kind();
  if (next == TokenKind::kOpenBracket && AtArrayConstructor()) {
    return ArrayConstructor(operand, name);
  }
  if (next != TokenKind::kOpenParen &&
      (next != TokenKind::kOpenBrace || (BracesAssign() && BracesHoldStatements()))) {
    const Span span = SpanOf(name);
    *operand = {.row = AddExpr({.kind = ExprKind::kName, .token = name, .span = span}),
                .span = span};
    return true;
  }
  const bool call = next == TokenKind::kOpenParen;
  uint32_t list = kNone;
  if (!Items(call ? TokenKind::kCloseParen : TokenKind::kCloseBrace, name, &list)) {
    return false;
  }
  const Span span{SpanOf(name).begin, SpanOf(Previous()).end};
  *operand = {.row = AddExpr({.kind = call ? ExprKind::kCall : ExprKind::kConstruct,
                              .token = name,
                              .span = span,
                              .a = list}),
              .span = span};
  return true;
}

// `vec4<f32> (`: what is compared here is no value in any program.
void Parser::SkipTypeArguments(uint32_t name) {
  if (Kind() != TokenKind::kLess || Kind(1) != TokenKind::kIdentifier ||
      Kind(2) != TokenKind::kGreater || Kind(3) != TokenKind::kOpenParen ||
      FindSpelling(SpellingPlace::kType, TextAt(SpanOf(name))) == nullptr) {
    return;
  }
  const Span span = Cover(SpanOf(name), Peek(2).span());
  Report(Code::kRpl1176, span, {{"text", Quoted(TextAt(span))}});
  pos_ += 3;
}

// Two operands in a row between the brackets of a list.
void Parser::FailComma() {
  const size_t before = found_.size();
  FailOperator();
  if (found_.size() > before && found_.back().code == Code::kRpl1170) {
    const uint32_t end = SpanOf(Previous()).end;
    Propose(found_.back(), {end, end}, ",", Confidence::kGuess);
    std::move(found_.back())
        .Note(NoteKind::kAdvice, {{"advice", "a ',' may be missing before it"}});
  }
}

// '(' [ expr { ',' expr } ] ')', or the same in braces
bool Parser::Items(TokenKind close, uint32_t name, uint32_t* list) {
  const uint32_t open = pos_;
  if (!EnterNested(open)) {
    return false;
  }
  Advance();
  const bool call = close == TokenKind::kCloseParen;
  open_braces_ += call ? 0 : 1;
  const size_t base = items_.size();
  if (Kind() != close) {
    do {
      Operand item;
      if (!Operators(&item)) {
        return false;
      }
      items_.push_back(item.row);
    } while (Accept(TokenKind::kComma));
  }
  if (Kind() != close && StartsOperand()) {
    FailComma();
    return false;
  }
  if (!ExpectClose(close, {call ? "call of" : "constructor", name}, open)) {
    return false;
  }
  --nesting_;
  open_braces_ -= call ? 0 : 1;
  *list = ast_.AddList(std::span(items_).subspan(base));
  items_.resize(base);
  return true;
}

// T[n] {…}, version 2. Behind a name, balanced brackets and then '{'.
bool Parser::AtArrayConstructor() const {
  uint32_t depth = 0;
  for (uint32_t ahead = 0;; ++ahead) {
    switch (Kind(ahead)) {
      case TokenKind::kOpenBracket:
        ++depth;
        break;
      case TokenKind::kCloseBracket:
        if (--depth == 0 && Kind(ahead + 1) != TokenKind::kOpenBracket) {
          return Kind(ahead + 1) == TokenKind::kOpenBrace;
        }
        break;
      case TokenKind::kSemicolon:
      case TokenKind::kEnd:
        return false;
      default:  // part of an index
        break;
    }
  }
}

bool Parser::ArrayConstructor(Operand* operand, uint32_t name) {
  NeedVersion2(name);
  uint32_t sizes = kNone;
  uint32_t list = kNone;
  const uint32_t marker = AddExpr({.kind = ExprKind::kSizes, .token = name});
  if (!Sizes(&sizes)) {
    return false;
  }
  ast_.exprs[marker].a = static_cast<uint32_t>(ast_.exprs.size());
  if (!Items(TokenKind::kCloseBrace, name, &list)) {
    return false;
  }
  const Span span{SpanOf(name).begin, SpanOf(Previous()).end};
  *operand = {
      .row = AddExpr(
          {.kind = ExprKind::kConstruct, .token = name, .span = span, .a = list, .b = sizes}),
      .span = span};
  return true;
}

// { '.' ID | '[' expr ']' }
bool Parser::Postfix(Operand* operand) {
  while (true) {
    switch (Kind()) {
      case TokenKind::kDot:
        if (!Member(operand)) {
          return false;
        }
        break;
      case TokenKind::kOpenBracket:
        if (!Index(operand)) {
          return false;
        }
        break;
      case TokenKind::kOpenParen:
      case TokenKind::kOpenBrace:
        // A block on a line of its own does not belong to the expression before it.
        if (Kind() == TokenKind::kOpenBrace && (OnNewLine() || BracesHoldStatements())) {
          return true;
        }
        return Fail(Code::kRpl1176, operand->span, {{"text", Quoted(TextAt(operand->span))}});
      default:  // an operator, or the end of the expression
        return true;
    }
  }
}

bool Parser::Member(Operand* operand) {
  Advance();
  if (Kind() != TokenKind::kIdentifier) {
    return FailHere(Code::kRpl1177);
  }
  const uint32_t name = Advance();
  const Span span = Cover(operand->span, SpanOf(name));
  *operand = {
      .row = AddExpr({.kind = ExprKind::kMember, .token = name, .span = span, .a = operand->row}),
      .span = span};
  return true;
}

bool Parser::Index(Operand* operand) {
  const uint32_t open = pos_;
  if (!EnterNested(open)) {
    return false;
  }
  Advance();
  Operand index;
  if (!Operators(&index)) {
    return false;
  }
  if (!CloseExpression(TokenKind::kCloseBracket, {"'['"}, open)) {
    return false;
  }
  const Span span = Cover(operand->span, SpanOf(Previous()));
  --nesting_;
  *operand = {.row = AddExpr({.kind = ExprKind::kIndex,
                              .token = open,
                              .span = span,
                              .a = operand->row,
                              .b = index.row}),
              .span = span};
  return true;
}

// The current token cannot start an operand; what stands before it decides how to say so.
bool Parser::FailOperandDue() {
  using enum TokenKind;
  switch (Kind()) {
    case kSemicolon:
    case kComma:
    case kCloseParen:
    case kCloseBracket:
    case kCloseBrace: {
      const TokenKind before = lexed_.tokens[Previous()].kind;
      const bool prefix = !pending_.empty() && pending_.back().kind == ExprKind::kUnary &&
                          pending_.back().token == Previous();
      if (prefix && IsPrefixOperator(before)) {
        return Fail(Code::kRpl1173, SpanOf(Previous()), {{"text", TextOfToken(Previous())}});
      }
      return FailHere(Code::kRpl1174);
    }
    case kDot:
    case kOpenBracket:
      return FailHere(Code::kRpl1173);
    case kOpenBrace:
    case kColon:
    case kEllipsis:
    case kVoid:
    case kError:
    case kEnd:
      return FailHere(Code::kRpl1175);
    default:  // a binary operator
      return FailHere(Code::kRpl1172);
  }
}

}  // namespace kiln::rpl
