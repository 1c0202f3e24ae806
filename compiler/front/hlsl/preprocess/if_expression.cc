// SPDX-License-Identifier: MIT
// Operator precedence with two stacks and no recursion: values, and operators whose right side is
// not there yet. An operator is applied when one that binds no tighter follows it. `&&`, `||` and
// `?` are pending like others, but what is behind them may not count; then `live_` is false until
// they are applied, and a division by zero is no error.
#include "compiler/front/hlsl/preprocess/if_expression.h"

namespace kiln::hlsl {
namespace {

using Step = IfExpression::Step;

// Levels of `Pending::precedence`. An open parenthesis and a '?' whose ':' is not read yet hold all
// that is behind them together.
// Binary operators have levels from 2 to 11 as in C; unary ones are above all of them.
constexpr uint8_t kHolds = 0;
constexpr uint8_t kConditional = 1;  // a ':' of '?'
constexpr uint8_t kFirstBinary = 2;  // ||
constexpr uint8_t kUnary = 12;

constexpr uint8_t Precedence(TokenKind kind) {
  using enum TokenKind;
  switch (kind) {
    case kLogicalOr:
      return kFirstBinary;
    case kLogicalAnd:
      return 3;
    case kOr:
      return 4;
    case kXor:
      return 5;
    case kAnd:
      return 6;
    case kEqual:
    case kNotEqual:
      return 7;
    case kLess:
    case kGreater:
    case kLessEqual:
    case kGreaterEqual:
      return 8;
    case kShiftLeft:
    case kShiftRight:
      return 9;
    case kPlus:
    case kMinus:
      return 10;
    case kStar:
    case kSlash:
    case kPercent:
      return 11;
    default:  // no binary operator
      return kHolds;
  }
}

int64_t Signed(uint64_t bits) { return static_cast<int64_t>(bits); }

// Shifts by more than the width, or backwards, have no meaning in C; here they push everything out.
uint64_t Shift(TokenKind kind, IfValue left, uint64_t by) {
  const bool negative = !left.is_unsigned && Signed(left.bits) < 0;
  if (by > 63) {
    return kind == TokenKind::kShiftRight && negative ? ~uint64_t{0} : 0;
  }
  if (kind == TokenKind::kShiftLeft) {
    return left.bits << by;
  }
  return negative ? static_cast<uint64_t>(Signed(left.bits) >> by) : left.bits >> by;
}

// Nothing if the right side is 0. The one quotient that does not fit wraps.
std::optional<uint64_t> Divide(TokenKind kind, IfValue left, IfValue right, bool is_unsigned) {
  if (right.bits == 0) {
    return std::nullopt;
  }
  const bool quotient = kind == TokenKind::kSlash;
  if (is_unsigned) {
    return quotient ? left.bits / right.bits : left.bits % right.bits;
  }
  // Dividing by -1 is a negation: the one quotient that does not fit would trap.
  if (Signed(right.bits) == -1) {
    return quotient ? 0 - left.bits : 0;
  }
  return static_cast<uint64_t>(quotient ? Signed(left.bits) / Signed(right.bits)
                                        : Signed(left.bits) % Signed(right.bits));
}

// Two comparisons decide all six.
bool Compare(TokenKind kind, IfValue left, IfValue right, bool is_unsigned) {
  using enum TokenKind;
  const bool less = is_unsigned ? left.bits < right.bits : Signed(left.bits) < Signed(right.bits);
  switch (kind) {
    case kLess:
      return less;
    case kGreaterEqual:
      return !less;
    case kLessEqual:
      return less || left.bits == right.bits;
    case kGreater:
      return !less && left.bits != right.bits;
    case kEqual:
      return left.bits == right.bits;
    default:  // kNotEqual
      return left.bits != right.bits;
  }
}

IfValue Unary(TokenKind kind, IfValue value) {
  switch (kind) {
    case TokenKind::kMinus:
      return {.bits = 0 - value.bits, .is_unsigned = value.is_unsigned};
    case TokenKind::kComplement:
      return {.bits = ~value.bits, .is_unsigned = value.is_unsigned};
    case TokenKind::kNot:
      return {.bits = uint64_t{value.bits == 0}};
    default:  // kPlus
      return value;
  }
}

// The binary operators that always have a value. Sums and products wrap.
// An operand without a sign makes the result one, but for comparisons, which are 0 or 1, and
// shifts, which have the kind of their left side.
IfValue Combine(TokenKind kind, IfValue left, IfValue right, bool is_unsigned) {
  using enum TokenKind;
  switch (kind) {
    case kPlus:
      return {.bits = left.bits + right.bits, .is_unsigned = is_unsigned};
    case kMinus:
      return {.bits = left.bits - right.bits, .is_unsigned = is_unsigned};
    case kStar:
      return {.bits = left.bits * right.bits, .is_unsigned = is_unsigned};
    case kAnd:
      return {.bits = left.bits & right.bits, .is_unsigned = is_unsigned};
    case kOr:
      return {.bits = left.bits | right.bits, .is_unsigned = is_unsigned};
    case kXor:
      return {.bits = left.bits ^ right.bits, .is_unsigned = is_unsigned};
    case kShiftLeft:
    case kShiftRight:
      return {.bits = Shift(kind, left, right.bits), .is_unsigned = left.is_unsigned};
    default:
      return {.bits = uint64_t{Compare(kind, left, right, is_unsigned)}};
  }
}

}  // namespace

void IfExpression::Clear() {
  values_.clear();
  pending_.clear();
  live_ = wants_operand_ = true;
  parentheses_ = terms_ = 0;
}

// An operand where one is due.
Step IfExpression::AddValue(IfValue value) {
  if (!wants_operand_) {
    return Step::kWrong;
  }
  values_.push_back(value);
  wants_operand_ = false;
  return Step::kGood;
}

// Where an operand is due only prefix operators and `(` fit; behind one only binary operators
// and `)`.
Step IfExpression::AddToken(TokenKind kind) {
  using enum TokenKind;
  if (wants_operand_) {
    const bool unary = kind == kPlus || kind == kMinus || kind == kNot || kind == kComplement;
    if (!unary && kind != kOpenParen) {
      return Step::kWrong;
    }
    pending_.push_back({.kind = kind, .precedence = unary ? kUnary : kHolds});
    parentheses_ += unary ? 0 : 1;
    return parentheses_ > most_parentheses_ ? Step::kTooDeep : Step::kGood;
  }
  switch (kind) {
    case kCloseParen:
      return CloseParenthesis();
    case kQuestion:
      return Question();
    case kColon:
      return Colon();
    default:
      return Binary(kind);
  }
}

// At the end of the line everything that waits is applied. An open parenthesis, or a `?`
// without its `:`, is still there then.
std::optional<IfValue> IfExpression::Finish() {
  const bool whole = !wants_operand_ && parentheses_ == 0 && Reduce(kConditional) &&
                     pending_.empty();  // a '?' without ':' is left over
  return whole ? std::optional(values_.back()) : std::nullopt;
}

Step IfExpression::CloseParenthesis() {
  if (parentheses_ == 0 || !Reduce(kConditional) || pending_.back().kind != TokenKind::kOpenParen) {
    return Step::kWrong;
  }
  pending_.pop_back();
  --parentheses_;
  return Step::kGood;
}

// Both sides are read; the one that is not chosen does not count. The condition leaves the
// stack, as its truth is all that is needed.
Step IfExpression::Question() {
  if (!Reduce(kFirstBinary)) {
    return Step::kWrong;
  }
  const bool chosen = values_.back().bits != 0;
  values_.pop_back();
  pending_.push_back(
      {.kind = TokenKind::kQuestion, .precedence = kHolds, .was_live = live_, .chosen = chosen});
  live_ = live_ && chosen;
  wants_operand_ = true;
  return CountTerm();
}

// The `?` turns into an operator that waits for its third operand.
Step IfExpression::Colon() {
  if (!Reduce(kConditional) || pending_.empty() || pending_.back().kind != TokenKind::kQuestion) {
    return Step::kWrong;
  }
  Pending& pending = pending_.back();
  pending.kind = TokenKind::kColon;
  pending.precedence = kConditional;
  live_ = pending.was_live && !pending.chosen;
  wants_operand_ = true;
  return Step::kGood;
}

Step IfExpression::Binary(TokenKind kind) {
  const uint8_t precedence = Precedence(kind);
  if (precedence == kHolds || !Reduce(precedence)) {
    return Step::kWrong;
  }
  pending_.push_back({.kind = kind, .precedence = precedence, .was_live = live_});
  const bool left = values_.back().bits != 0;
  if (kind == TokenKind::kLogicalAnd || kind == TokenKind::kLogicalOr) {
    // The right side counts only if the left one does not decide.
    live_ = live_ && left == (kind == TokenKind::kLogicalAnd);
  }
  wants_operand_ = true;
  return CountTerm();
}

// As spec/daemon 10 has `terms`, so that stacks stay small.
Step IfExpression::CountTerm() { return ++terms_ >= most_terms_ ? Step::kTooMany : Step::kGood; }

// Applies what is pending and binds at least as tight as `down_to`. False if that is wrong.
bool IfExpression::Reduce(uint8_t down_to) {
  while (!pending_.empty() && pending_.back().precedence >= down_to) {
    const Pending pending = pending_.back();
    pending_.pop_back();
    if (!Apply(pending)) {
      return false;
    }
  }
  return true;
}

// Takes the operands of one operator off the stack. Their number is right: an operator is only
// read where an operand stands before it, and applied where one stands behind.
bool IfExpression::Apply(const Pending& pending) {
  IfValue right = values_.back();
  if (pending.precedence == kUnary) {
    values_.back() = Unary(pending.kind, right);
    return true;
  }
  values_.pop_back();
  IfValue& left = values_.back();
  const bool is_unsigned = left.is_unsigned || right.is_unsigned;
  switch (pending.kind) {
    case TokenKind::kColon:
      live_ = pending.was_live;
      left = {.bits = pending.chosen ? left.bits : right.bits, .is_unsigned = is_unsigned};
      return true;
    case TokenKind::kLogicalAnd:
    case TokenKind::kLogicalOr:
      live_ = pending.was_live;
      left = {.bits = pending.kind == TokenKind::kLogicalAnd
                          ? uint64_t{left.bits != 0 && right.bits != 0}
                          : uint64_t{left.bits != 0 || right.bits != 0}};
      return true;
    case TokenKind::kSlash:
    case TokenKind::kPercent: {
      const std::optional<uint64_t> bits = Divide(pending.kind, left, right, is_unsigned);
      left = {.bits = bits.value_or(0), .is_unsigned = is_unsigned};
      // A division by zero is an error only where it counts.
      return bits.has_value() || !live_;
    }
    default:
      left = Combine(pending.kind, left, right, is_unsigned);
      return true;
  }
}

}  // namespace kiln::hlsl
