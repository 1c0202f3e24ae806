// SPDX-License-Identifier: MIT
// Operator precedence with an explicit stack: an operator waits in `pending_` until one that binds
// less strongly, or the end of the expression, comes. Rows of the tree come out in post-order,
// which is the order in which operators leave the stack. Only brackets recurse, at most
// limits.nesting deep; chains of operators do not, which have at most limits.terms operands. See
// spec/rpl 1.4, 2.3, 14; spec/daemon 10
#include "compiler/front/rpl/parser/parse_expr.h"

#include <array>

#include "compiler/diag/spellings.h"
#include "compiler/front/rpl/operators.h"
#include "compiler/front/rpl/parser/lookahead.h"

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

// What may nest without brackets: each such operator that waits is a level, so that a chain of them
// is bounded too.
bool Nests(uint8_t precedence) { return BindsRight(precedence) || precedence == kPrefix; }

}  // namespace

// The whole expression is the range of rows that were added while it was read; its root is the last
// one. After an error the stacks are cut back to where they were, because rules that fail leave
// them as they are.
bool ExpressionParser::Expression(ExprRange* range) {
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
//
// Shunting yard: an operator that waits is reduced when one of its strength or weaker comes; one
// that binds to the right lets its equals wait on top of it. `base` separates this call's operators
// from those of the brackets around it.
bool ExpressionParser::Operators(Operand* operand) {
  const size_t base = pending_.size();
  for (uint32_t terms = 1;; ++terms) {
    if (!Prefixed(operand)) {
      return false;
    }
    const uint8_t precedence = at_.Kind() == TokenKind::kQuestion
                                   ? uint8_t{kConditional}
                                   : OperatorOf(at_.Kind()).precedence;
    while (pending_.size() > base && pending_.back().precedence >= precedence &&
           !(pending_.back().precedence == precedence && BindsRight(precedence))) {
      Reduce(operand);
    }
    if (precedence == kNotBinary) {
      return true;
    }
    // Counted here, because a chain has no brackets that would be counted.
    if (terms == limits_.terms) {
      return errors_.Fail(Code::kLim1001, at_.SpanOf(at_.pos()),
                          {{"what", "expression"}, {"parts", "terms"}, {"limit", limits_.terms}});
    }
    if (Nests(precedence) && !EnterNested(at_.pos())) {
      return false;
    }
    if (!(precedence == kConditional ? PushSelect(*operand) : PushBinary(*operand))) {
      return false;
    }
  }
}

bool ExpressionParser::EnterNested(uint32_t token) {
  if (++nesting_ <= limits_.nesting) {
    return true;
  }
  return errors_.Fail(Code::kRpl1009, at_.SpanOf(token),
                      {{"text", at_.TextOfToken(token)}, {"limit", limits_.nesting}});
}

bool ExpressionParser::PushBinary(const Operand& left) {
  const OperatorRow& row = OperatorOf(at_.Kind());
  if (row.precedence == kAssignment && row.op != kPlainAssign) {
    errors_.NeedVersion2(at_.pos());
  }
  const uint32_t token = at_.Advance();
  // The row between the operands tells a reader of the post-order that the right operand begins,
  // which runs only if the left one does not decide.
  if (row.kind == ExprKind::kLogical) {
    AddExpr({.kind = ExprKind::kRight, .token = token, .span = left.span, .a = left.row});
  }
  pending_.push_back(
      {.precedence = row.precedence, .kind = row.kind, .op = row.op, .token = token, .left = left});
  return true;
}

// c ? a : …  up to the ':'; the third operand follows as the right side of a pending operator.
bool ExpressionParser::PushSelect(const Operand& condition) {
  errors_.NeedVersion2(at_.pos());
  const uint32_t token = at_.Advance();
  AddExpr({.kind = ExprKind::kThen, .token = token, .span = condition.span, .a = condition.row});
  Operand then;
  // The middle operand is bracketed by '?' and ':', so it is an expression of its own with its own
  // base.
  if (!Operators(&then)) {
    return false;
  }
  if (!errors_.CloseExpression(TokenKind::kColon, {"'?'"}, token)) {
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

// Takes the operator that waited last and makes its row of the operand before it and the one that
// was just read. Rows are added here, so they come in post-order.
void ExpressionParser::Reduce(Operand* operand) {
  const Pending pending = pending_.back();
  pending_.pop_back();
  if (Nests(pending.precedence)) {
    --nesting_;
  }
  Expr expr{.kind = pending.kind, .op = pending.op, .token = pending.token};
  if (pending.kind == ExprKind::kUnary) {
    expr.span = Cover(at_.SpanOf(pending.token), operand->span);
    expr.a = operand->row;
  } else {
    expr.span = Cover(pending.left.span, operand->span);
    expr.a = pending.left.row;
    expr.b = operand->row;
  }
  // Three operands do not fit a row: the second and the third are a list.
  if (pending.kind == ExprKind::kSelect) {
    expr.b = ast_.AddList(std::array{pending.then, operand->row});
  }
  const Span span = expr.span;
  *operand = {.row = AddExpr(expr), .span = span};
}

// { '-' | '!' | '~' | '+' } postfix; the operators stay pending.
bool ExpressionParser::Prefixed(Operand* operand) {
  while (IsPrefixOperator(at_.Kind())) {
    if (!EnterNested(at_.pos())) {
      return false;
    }
    const ir::UnaryOp op = PrefixOperator(at_.Kind());
    pending_.push_back({.precedence = kPrefix,
                        .kind = ExprKind::kUnary,
                        .op = static_cast<uint8_t>(op),
                        .token = at_.Advance(),
                        .left = {}});
  }
  return Primary(operand) && Postfix(operand);
}

bool ExpressionParser::Primary(Operand* operand) {
  using enum TokenKind;
  switch (at_.Kind()) {
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

bool ExpressionParser::Literal(Operand* operand, ExprKind kind) {
  const uint32_t token = at_.pos();
  const Span span = at_.SpanOf(token);
  uint32_t bits = at_.lexed().tokens[token].value;
  if (kind == ExprKind::kFlag) {
    bits = at_.Kind() == TokenKind::kTrue ? 1 : 0;
  }
  // 2147483648 is no signed number, but its negative is: allowed directly behind a minus (spec/rpl
  // 1.3).
  if (kind == ExprKind::kSint && bits == 0x80000000u) {
    const bool negated = !pending_.empty() && pending_.back().kind == ExprKind::kUnary &&
                         pending_.back().token + 1 == token &&
                         pending_.back().op == static_cast<uint8_t>(ir::UnaryOp::kNegate);
    if (!negated) {
      errors_.Report(Code::kRpl1006, span, {{"kind", "signed"}, {"text", at_.TextOfToken(token)}});
    }
  }
  at_.Advance();
  *operand = {.row = AddExpr({.kind = kind, .token = token, .span = span, .a = bits}),
              .span = span};
  return true;
}

bool ExpressionParser::Group(Operand* operand) {
  const uint32_t open = at_.pos();
  if (!EnterNested(open)) {
    return false;
  }
  at_.Advance();
  if (!Operators(operand)) {
    return false;
  }
  if (!errors_.CloseExpression(TokenKind::kCloseParen, {"'('"}, open)) {
    return false;
  }
  operand->span = {at_.SpanOf(open).begin, at_.SpanOf(at_.Previous()).end};
  --nesting_;
  return true;
}

// A name, a call or a constructor.
bool ExpressionParser::Name(Operand* operand) {
  const uint32_t name = at_.Advance();
  SkipTypeArguments(name);
  const TokenKind next = at_.Kind();
  if (next == TokenKind::kOpenBracket && AtArrayConstructor(at_)) {
    return ArrayConstructor(operand, name);
  }
  // A '{' behind a name is a constructor (spec/rpl 2.3). Only if the braces begin with an
  // assignment and hold statements a scope was meant, whose keyword is missing in front.
  if (next != TokenKind::kOpenParen &&
      (next != TokenKind::kOpenBrace || (BracesAssign(at_) && BracesHoldStatements(at_)))) {
    const Span span = at_.SpanOf(name);
    *operand = {.row = AddExpr({.kind = ExprKind::kName, .token = name, .span = span}),
                .span = span};
    return true;
  }
  const bool call = next == TokenKind::kOpenParen;
  uint32_t list = kNone;
  if (!Items(call ? TokenKind::kCloseParen : TokenKind::kCloseBrace, name, &list)) {
    return false;
  }
  const Span span{at_.SpanOf(name).begin, at_.SpanOf(at_.Previous()).end};
  *operand = {.row = AddExpr({.kind = call ? ExprKind::kCall : ExprKind::kConstruct,
                              .token = name,
                              .span = span,
                              .a = list}),
              .span = span};
  return true;
}

// `vec4<f32> (`: what is compared here is no value in any program.
void ExpressionParser::SkipTypeArguments(uint32_t name) {
  if (at_.Kind() != TokenKind::kLess || at_.Kind(1) != TokenKind::kIdentifier ||
      at_.Kind(2) != TokenKind::kGreater || at_.Kind(3) != TokenKind::kOpenParen ||
      FindSpelling(SpellingPlace::kType, at_.TextAt(at_.SpanOf(name))) == nullptr) {
    return;
  }
  const Span span = Cover(at_.SpanOf(name), at_.Peek(2).span());
  errors_.Report(Code::kRpl1176, span, {{"text", Quoted(at_.TextAt(span))}});
  // The call is read as if it had been written without type arguments, so its own errors are found.
  at_.Skip(3);
}

// Two operands in a row between the brackets of a list.
void ExpressionParser::FailComma() {
  const size_t before = errors_.found().size();
  errors_.FailOperator();
  if (errors_.found().size() > before && errors_.found().back().code == Code::kRpl1170) {
    const uint32_t end = at_.SpanOf(at_.Previous()).end;
    errors_.Propose(errors_.found().back(), {end, end}, ",", Confidence::kGuess);
    std::move(errors_.found().back())
        .Note(NoteKind::kAdvice, {{"advice", "a ',' may be missing before it"}});
  }
}

// '(' [ expr { ',' expr } ] ')', or the same in braces
bool ExpressionParser::Items(TokenKind close, uint32_t name, uint32_t* list) {
  const uint32_t open = at_.pos();
  if (!EnterNested(open)) {
    return false;
  }
  at_.Advance();
  const bool call = close == TokenKind::kCloseParen;
  if (!call) {
    recovery_.OpenBrace();
  }
  // Items of nested lists share one stack; those of this list are the ones above `base`, and are
  // moved to the tree when it ends.
  const size_t base = items_.size();
  if (at_.Kind() != close) {
    do {
      Operand item;
      if (!Operators(&item)) {
        return false;
      }
      items_.push_back(item.row);
    } while (at_.Accept(TokenKind::kComma));
  }
  if (at_.Kind() != close && at_.StartsOperand()) {
    FailComma();
    return false;
  }
  if (!errors_.ExpectClose(close, {call ? "call of" : "constructor", name}, open)) {
    return false;
  }
  --nesting_;
  if (!call) {
    recovery_.CloseBrace();
  }
  *list = ast_.AddList(std::span(items_).subspan(base));
  items_.resize(base);
  return true;
}

bool ExpressionParser::ArrayConstructor(Operand* operand, uint32_t name) {
  errors_.NeedVersion2(name);
  uint32_t sizes = kNone;
  uint32_t list = kNone;
  // The sizes stand before the items in the rows, and whoever walks them must be able to skip them:
  // the marker says where they end.
  const uint32_t marker = AddExpr({.kind = ExprKind::kSizes, .token = name});
  if (!Sizes(&sizes)) {
    return false;
  }
  ast_.exprs[marker].a = static_cast<uint32_t>(ast_.exprs.size());
  if (!Items(TokenKind::kCloseBrace, name, &list)) {
    return false;
  }
  const Span span{at_.SpanOf(name).begin, at_.SpanOf(at_.Previous()).end};
  *operand = {
      .row = AddExpr(
          {.kind = ExprKind::kConstruct, .token = name, .span = span, .a = list, .b = sizes}),
      .span = span};
  return true;
}

// { '.' ID | '[' expr ']' }
bool ExpressionParser::Postfix(Operand* operand) {
  while (true) {
    switch (at_.Kind()) {
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
        if (at_.Kind() == TokenKind::kOpenBrace && (at_.OnNewLine() || BracesHoldStatements(at_))) {
          return true;
        }
        // Only a bare name can be called or construct.
        return errors_.Fail(Code::kRpl1176, operand->span,
                            {{"text", Quoted(at_.TextAt(operand->span))}});
      default:  // an operator, or the end of the expression
        return true;
    }
  }
}

bool ExpressionParser::Member(Operand* operand) {
  at_.Advance();
  if (at_.Kind() != TokenKind::kIdentifier) {
    return errors_.FailHere(Code::kRpl1177);
  }
  const uint32_t name = at_.Advance();
  const Span span = Cover(operand->span, at_.SpanOf(name));
  *operand = {
      .row = AddExpr({.kind = ExprKind::kMember, .token = name, .span = span, .a = operand->row}),
      .span = span};
  return true;
}

bool ExpressionParser::Index(Operand* operand) {
  const uint32_t open = at_.pos();
  if (!EnterNested(open)) {
    return false;
  }
  at_.Advance();
  Operand index;
  if (!Operators(&index)) {
    return false;
  }
  if (!errors_.CloseExpression(TokenKind::kCloseBracket, {"'['"}, open)) {
    return false;
  }
  const Span span = Cover(operand->span, at_.SpanOf(at_.Previous()));
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
bool ExpressionParser::FailOperandDue() {
  using enum TokenKind;
  switch (at_.Kind()) {
    case kSemicolon:
    case kComma:
    case kCloseParen:
    case kCloseBracket:
    case kCloseBrace: {
      const TokenKind before = at_.lexed().tokens[at_.Previous()].kind;
      const bool prefix = !pending_.empty() && pending_.back().kind == ExprKind::kUnary &&
                          pending_.back().token == at_.Previous();
      if (prefix && IsPrefixOperator(before)) {
        return errors_.Fail(Code::kRpl1173, at_.SpanOf(at_.Previous()),
                            {{"text", at_.TextOfToken(at_.Previous())}});
      }
      return errors_.FailHere(Code::kRpl1174);
    }
    case kDot:
    case kOpenBracket:
      return errors_.FailHere(Code::kRpl1173);
    case kOpenBrace:
    case kColon:
    case kEllipsis:
    case kVoid:
    case kError:
    case kEnd:
      return errors_.FailHere(Code::kRpl1175);
    default:  // a binary operator
      return errors_.FailHere(Code::kRpl1172);
  }
}

// { '[' expr ']' }
bool ExpressionParser::Sizes(uint32_t* sizes) {
  if (at_.Kind() != TokenKind::kOpenBracket) {
    return true;
  }
  const size_t base = items_.size();
  while (at_.Kind() == TokenKind::kOpenBracket) {
    const uint32_t open = at_.Advance();
    // A size takes two items: first row and root. The number of sizes is bounded like nesting, as
    // each is a level of the type.
    if (items_.size() - base == size_t{2} * limits_.nesting) {
      items_.resize(base);
      return errors_.Fail(Code::kRpl1009, at_.SpanOf(open),
                          {{"text", "["}, {"limit", limits_.nesting}});
    }
    ExprRange size;
    if (!Expression(&size) || !errors_.CloseExpression(TokenKind::kCloseBracket, {"'['"}, open)) {
      items_.resize(base);
      return false;
    }
    items_.push_back(size.first);
    items_.push_back(size.root);
  }
  *sizes = ast_.AddList(std::span(items_).subspan(base));
  items_.resize(base);
  return true;
}

// 'conditional' '(' expr ')'
bool ExpressionParser::Conditional(ExprRange* condition) {
  at_.Advance();
  const uint32_t open = at_.Advance();
  return Expression(condition) &&
         errors_.CloseExpression(TokenKind::kCloseParen, {"'conditional'"}, open);
}

}  // namespace kiln::rpl
