// SPDX-License-Identifier: MIT
// Precedence is by classes, and few of them may be mixed: `a & b + c`, `a && b || c`, `a < b < c`
// and `a << b + c` need parentheses. One level of operators is read by a loop, so chains are as
// long as they like; brackets and unary operators are counted.
#include "compiler/front/wgsl/syntax/parser/parse_expr.h"

#include <optional>
#include <vector>

#include "compiler/base/threads/stop.h"

namespace kiln::wgsl::front::syntax {
namespace {

// Operators that may stand between two operands, with what they become. The table is short
// enough to be a switch, and the compiler tells if two rows have one token.
std::optional<Operator> BinaryOf(TokenKind kind) {
  switch (kind) {
#define KILN_WGSL_ROW(token, op) \
  case TokenKind::k##token:      \
    return Operator::k##op;
    KILN_WGSL_ROW(Star, Mul)
    KILN_WGSL_ROW(Slash, Div)
    KILN_WGSL_ROW(Percent, Rem)
    KILN_WGSL_ROW(Plus, Add)
    KILN_WGSL_ROW(Minus, Sub)
    KILN_WGSL_ROW(ShiftLeft, ShiftLeft)
    KILN_WGSL_ROW(ShiftRight, ShiftRight)
    KILN_WGSL_ROW(Less, Less)
    KILN_WGSL_ROW(Greater, Greater)
    KILN_WGSL_ROW(LessEqual, LessEqual)
    KILN_WGSL_ROW(GreaterEqual, GreaterEqual)
    KILN_WGSL_ROW(EqualEqual, Equal)
    KILN_WGSL_ROW(NotEqual, NotEqual)
    KILN_WGSL_ROW(LogicalAnd, LogicalAnd)
    KILN_WGSL_ROW(LogicalOr, LogicalOr)
    KILN_WGSL_ROW(And, And)
    KILN_WGSL_ROW(Or, Or)
    KILN_WGSL_ROW(Xor, Xor)
#undef KILN_WGSL_ROW
    default:
      return std::nullopt;
  }
}

// `-a`, `!a`, `~a`, `*p`, `&v`. The same tokens between operands are other operators.
std::optional<Operator> UnaryOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kMinus:
      return Operator::kNegate;
    case TokenKind::kBang:
      return Operator::kNot;
    case TokenKind::kTilde:
      return Operator::kComplement;
    case TokenKind::kStar:
      return Operator::kIndirection;
    case TokenKind::kAnd:
      return Operator::kAddressOf;
    default:
      return std::nullopt;
  }
}

class Expressions {
 public:
  explicit Expressions(ParseContext& context) : context_(context) {}

  // WGSL, "Operator Precedence and Associativity". One expression is one of these:
  //
  //    unary { & unary }           and so for | and ^, each only with itself
  //    relation { && relation }    and so for ||
  //    relation = shift [ < shift ]
  //    shift    = unary << unary, or a sum of products
  //
  // What follows the operand that was read decides which of them it is.
  ExprId Expression() {
    CheckStop();
    ExprId left = Unary();
    // Looked at before a relation is read: behind `a & b` there is no `<` then, and Done
    // refuses one.
    if (const auto row = NextClass(); row == OperatorClass::kBitAnd ||
                                      row == OperatorClass::kBitOr ||
                                      row == OperatorClass::kBitXor) {
      while (!context_.failed && NextClass() == row) {
        left = Binary(left, [&] { return Unary(); });
      }
      return Done(left);
    }
    left = Relation(left);
    // `&&` and `||` do not mix without parentheses: another one behind the loop is an error in
    // Done.
    if (const auto row = NextClass(); row == OperatorClass::kAnd || row == OperatorClass::kOr) {
      while (!context_.failed && NextClass() == row) {
        left = Binary(left, [&] { return Relation(Unary()); });
      }
    }
    return Done(left);
  }

  // Unary operators recurse, and each counts as a level, since `-----a` is as long as a source.
  ExprId Unary() {
    if (context_.failed) {
      return {};
    }
    const std::optional<Operator> op = UnaryOf(context_.Kind());
    if (!op.has_value()) {
      return Singular();
    }
    const ParseContext::Deeper deeper(context_);
    const uint32_t begin = context_.at;
    context_.Next();
    const ExprId operand = Unary();
    if (context_.failed) {
      return {};
    }
    return Add({.kind = ExprKind::kUnary, .op = *op, .a = operand.value}, begin, operand);
  }

  // A primary with its members and items.
  ExprId Singular() {
    ExprId left = Primary();
    while (!context_.failed) {
      // A part begins where the whole begins: its range is what an error underlines.
      const uint32_t begin = left.valid() ? context_.ast[left].at.begin : 0;
      if (context_.Accept(TokenKind::kPeriod)) {
        const uint32_t name = context_.at;
        if (!context_.Expect(TokenKind::kIdentifier)) {
          return {};
        }
        left = Add({.kind = ExprKind::kMember, .token = name, .a = left.value}, begin, left);
      } else if (context_.Accept(TokenKind::kOpenBracket)) {
        const ParseContext::Deeper deeper(context_);
        const ExprId index = Expression();
        if (!context_.Expect(TokenKind::kCloseBracket)) {
          return {};
        }
        left = Add({.kind = ExprKind::kIndex, .a = left.value, .b = index.value}, begin, left);
      } else {
        return left;
      }
    }
    return {};
  }

  // A name, and the template list behind it. It is a type, function, value or word of the
  // language: only checking knows which.
  ExprId Name() {
    // Rows of an expression lie one after another, and `first` is where they begin: so the
    // arguments of the list come before the name.
    const uint32_t name = context_.at;
    const auto first = static_cast<uint32_t>(context_.ast.exprs.size());
    if (!context_.Expect(TokenKind::kIdentifier)) {
      return {};
    }
    // Only names that no scope around has can be those of the module.
    if (!context_.scopes.Has(context_.stream.Text(name))) {
      context_.ast.mentions.push_back(name);
    }
    std::vector<uint32_t> arguments;
    if (context_.Accept(TokenKind::kTemplateOpen)) {
      const ParseContext::Deeper deeper(context_);
      while (!context_.failed && !context_.Is(TokenKind::kTemplateClose)) {
        arguments.push_back(Expression().value);
        if (!context_.Accept(TokenKind::kComma)) {
          break;
        }
      }
      context_.Expect(TokenKind::kTemplateClose);
    }
    if (context_.failed) {
      return {};
    }
    return context_.Add(Expr{.kind = ExprKind::kName,
                             .at = {name, context_.at},
                             .token = name,
                             .a = context_.AddList(arguments).value,
                             .first = first});
  }

  // Also the arguments of attributes. A comma may stand behind the last one.
  ListId Arguments() {
    std::vector<uint32_t> arguments;
    if (!context_.Expect(TokenKind::kOpenParen)) {
      return {};
    }
    const ParseContext::Deeper deeper(context_);
    while (!context_.failed && !context_.Is(TokenKind::kCloseParen)) {
      arguments.push_back(Expression().value);
      if (!context_.Accept(TokenKind::kComma)) {
        break;
      }
    }
    if (!context_.failed && !context_.Is(TokenKind::kCloseParen)) {
      context_.Fail("',' or ')'");
    }
    context_.Accept(TokenKind::kCloseParen);
    return context_.failed ? ListId{} : context_.AddList(arguments);
  }

 private:
  // Nothing if the next token is no operator, and after an error: all loops above end then.
  std::optional<OperatorClass> NextClass() const {
    const std::optional<Operator> op = context_.failed ? std::nullopt : BinaryOf(context_.Kind());
    return op.has_value() ? std::optional(FactsOf(*op).row) : std::nullopt;
  }

  // Another operator here would need parentheses.
  ExprId Done(ExprId id) {
    if (NextClass().has_value()) {
      context_.Fail("parentheses around one of two operators");
    }
    return context_.failed ? ExprId{} : id;
  }

  // What a `first` is of a row whose first operand is `of`.
  ExprId Add(Expr row, uint32_t begin, ExprId of) {
    row.at = {begin, context_.at};
    row.first = context_.ast[of].first;
    return context_.Add(row);
  }

  // Operands are read before the row is added: rows are in post-order.
  template <class Operand>
  ExprId Binary(ExprId left, Operand operand) {
    const Operator op = *BinaryOf(context_.Kind());
    context_.Next();
    const ExprId right = operand();
    if (context_.failed) {
      return {};
    }
    return Add({.kind = ExprKind::kBinary, .op = op, .a = left.value, .b = right.value},
               context_.ast[left].at.begin, left);
  }

  // Multiplication, division and remainder bind to the left and as strongly as each other.
  ExprId Multiplied(ExprId left) {
    while (NextClass() == OperatorClass::kMultiply) {
      left = Binary(left, [&] { return Unary(); });
    }
    return left;
  }

  // A shift has unary operands on both sides and stands alone: `a << b << c` and `a + b << c`
  // need parentheses.
  ExprId Shifted(ExprId left) {
    if (NextClass() == OperatorClass::kShift) {
      return Binary(left, [&] { return Unary(); });
    }
    left = Multiplied(left);
    while (NextClass() == OperatorClass::kAdd) {
      left = Binary(left, [&] { return Multiplied(Unary()); });
    }
    return left;
  }

  // One comparison, not a chain of them: `a < b < c` is an error in Done.
  ExprId Relation(ExprId left) {
    left = Shifted(left);
    if (NextClass() == OperatorClass::kRelation) {
      left = Binary(left, [&] { return Shifted(Unary()); });
    }
    return left;
  }

  // A literal, a name, a call, or something in parentheses.
  ExprId Primary() {
    const uint32_t begin = context_.at;
    switch (context_.Kind()) {
      case TokenKind::kInt:
      case TokenKind::kFloat:
      case TokenKind::kTrue:
      case TokenKind::kFalse:
        context_.Next();
        return context_.Add(Expr{.kind = ExprKind::kLiteral,
                                 .at = {begin, context_.at},
                                 .token = begin,
                                 .first = static_cast<uint32_t>(context_.ast.exprs.size())});
      case TokenKind::kOpenParen:
        return Parenthesised();
      case TokenKind::kIdentifier:
        break;
      default:
        context_.Fail("expression");
        return {};
    }
    const ExprId name = Name();
    if (context_.failed || !context_.Is(TokenKind::kOpenParen)) {
      return name;
    }
    const ListId arguments = Arguments();
    if (context_.failed) {
      return {};
    }
    return Add({.kind = ExprKind::kCall, .a = name.value, .b = arguments.value}, begin, name);
  }

  // Parentheses make no row. That they were there is kept: `(f(x));` is no call statement, and
  // the range of what is inside is that of the parentheses.
  ExprId Parenthesised() {
    const ParseContext::Deeper deeper(context_);
    const uint32_t begin = context_.at;
    context_.Next();
    const ExprId inner = Expression();
    if (!context_.Expect(TokenKind::kCloseParen)) {
      return {};
    }
    Expr& row = context_.ast.exprs[inner.value];
    row.in_parens = true;
    row.at = {begin, context_.at};
    return inner;
  }

  ParseContext& context_;
};

}  // namespace

ExprId ParseExpression(ParseContext& context) { return Expressions(context).Expression(); }

// What may begin the left side of an assignment or a call: anything else is reported as a
// statement that is expected, not as an expression.
ExprId ParseLeftSide(ParseContext& context) {
  const TokenKind kind = context.Kind();
  if (kind != TokenKind::kIdentifier && kind != TokenKind::kOpenParen && kind != TokenKind::kStar &&
      kind != TokenKind::kAnd) {
    context.Fail("statement");
    return {};
  }
  return Expressions(context).Unary();
}

ExprId ParseName(ParseContext& context) { return Expressions(context).Name(); }

ListId ParseArguments(ParseContext& context) { return Expressions(context).Arguments(); }

}  // namespace kiln::wgsl::front::syntax
