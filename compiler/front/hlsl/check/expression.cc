// SPDX-License-Identifier: MIT
// The rows of an expression stand in post-order, so one loop checks them, however deep chains are.
// What was made of a row is kept by its number. Markers and callees are passed over; lists are
// asked for by whoever initialises something.
#include "compiler/front/hlsl/check/expression.h"

#include <algorithm>
#include <bit>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/build_operator.h"
#include "compiler/front/hlsl/check/call.h"
#include "compiler/front/hlsl/check/name.h"
#include "compiler/front/hlsl/check/resources/method.h"
#include "compiler/front/hlsl/check/type_of.h"

namespace kiln::hlsl {
namespace {

using RowKind = syntax::ExprKind;

// In the order of syntax::BinaryOp.
Operator OperatorOf(syntax::BinaryOp op) {
  static constexpr Operator kOperators[] = {
      Operator::kMul,      Operator::kDiv,       Operator::kMod,          Operator::kAdd,
      Operator::kSub,      Operator::kShiftLeft, Operator::kShiftRight,   Operator::kLess,
      Operator::kGreater,  Operator::kLessEqual, Operator::kGreaterEqual, Operator::kEqual,
      Operator::kNotEqual, Operator::kBitAnd,    Operator::kBitXor,       Operator::kBitOr};
  return kOperators[static_cast<size_t>(op)];
}

// spec/hlsl 6.1: without `u` a literal int of 64 bits, with it a uint of 32.
ExprId OfInteger(CheckContext& context, const syntax::Expr& row, TokenRange at) {
  const auto suffix = static_cast<syntax::IntegerSuffix>(row.op);
  switch (suffix) {
    case syntax::IntegerSuffix::kNone:
    case syntax::IntegerSuffix::kL:
      return MakeScalar(context, {Item::kLiteralInt, row.bits()}, at);
    case syntax::IntegerSuffix::kU:
    case syntax::IntegerSuffix::kUl:
      if (row.bits() > 0xffffffffu) {
        context.Say(
            context.At(Code::kHlsl1006, at).With("text", context.Text(at)).With("bits", 32));
        return context.Failed(at);
      }
      return MakeScalar(context, UintValue(static_cast<uint32_t>(row.bits())), at);
    case syntax::IntegerSuffix::kLl:
    case syntax::IntegerSuffix::kUll:
      break;
  }
  context.Refuse(at, context.Text(at), "64-bit types");
  return context.Failed(at);
}

// The value was rounded to the width of the suffix when it was read.
ExprId OfFloat(CheckContext& context, const syntax::Expr& row, TokenRange at) {
  const double value = std::bit_cast<double>(row.bits());
  switch (static_cast<syntax::FloatSuffix>(row.op)) {
    case syntax::FloatSuffix::kNone:
      return MakeScalar(context, OfReal(Item::kLiteralFloat, value), at);
    case syntax::FloatSuffix::kF:
      return MakeScalar(context, OfReal(Item::kFloat, value), at);
    case syntax::FloatSuffix::kH:
      return MakeScalar(context, OfReal(Item::kHalf, value), at);
    case syntax::FloatSuffix::kL:
      return MakeScalar(context, OfReal(Item::kDouble, value), at);
  }
  KILN_UNREACHABLE();
}

// Both forms of `++` change the operand; they differ in which value they give.
ExprId OfUnary(CheckContext& context, const syntax::Expr& row, ExprId operand, TokenRange at) {
  switch (static_cast<syntax::UnaryOp>(row.op)) {
    case syntax::UnaryOp::kPlus:
      return MakeUnary(context, Operator::kPlus, operand, row.token, at);
    case syntax::UnaryOp::kNegate:
      return MakeUnary(context, Operator::kMinus, operand, row.token, at);
    case syntax::UnaryOp::kNot:
      return MakeUnary(context, Operator::kNot, operand, row.token, at);
    case syntax::UnaryOp::kComplement:
      return MakeUnary(context, Operator::kComplement, operand, row.token, at);
    case syntax::UnaryOp::kPreIncrement:
      return MakeStep(context, Operator::kAdd, operand, Position::kPrefix, row.token, at);
    case syntax::UnaryOp::kPreDecrement:
      return MakeStep(context, Operator::kSub, operand, Position::kPrefix, row.token, at);
    case syntax::UnaryOp::kPostIncrement:
      return MakeStep(context, Operator::kAdd, operand, Position::kPostfix, row.token, at);
    case syntax::UnaryOp::kPostDecrement:
      return MakeStep(context, Operator::kSub, operand, Position::kPostfix, row.token, at);
  }
  KILN_UNREACHABLE();
}

// spec/hlsl 10.2: the value of the right side, which is a place if that is one.
ExprId OfComma(CheckContext& context, ExprId left, ExprId right, TokenRange at) {
  left = Natural(context, left);
  right = Natural(context, right);
  const Expr value = context.Get(right);
  const ExprId both[] = {left, right};
  // A resource is no value that could be computed and dropped.
  for (const ExprId operand : both) {
    if (context.types().HoldsObject(context.TypeOf(operand))) {
      context.Refuse(at, context.Text(context.Get(operand).at), "resources as values");
      return context.Failed(at);
    }
  }
  return Combine(context,
                 {.kind = ExprKind::kComma,
                  .flags = static_cast<uint8_t>(value.flags & (Expr::kPlace | Expr::kConst)),
                  .type = value.type,
                  .a = left.value,
                  .b = right.value,
                  .at = at},
                 both, Knowable::kNo);
}

// `type (…)`: leaves of the arguments are those of the type.
// One argument to a scalar, or to anything that is no number, is a cast. Otherwise leaves must
// be as many as the type has: `float4 (v.xyz, 1)`.
ExprId OfConstruct(CheckContext& context, TypeId type, std::span<const ExprId> arguments,
                   TokenRange at) {
  if (context.types().IsFailed(type)) {
    return context.Failed(at);
  }
  const TypeKind kind = context.types()[type].kind;
  if (arguments.size() == 1 && (kind != TypeKind::kNumeric || context.types().IsScalar(type))) {
    return AsValue(context, ConvertTo(context, arguments[0], type, ConversionUse::kCast, at));
  }
  uint64_t leaves = 0;
  for (const ExprId argument : arguments) {
    const Expr& expr = context.Get(argument);
    if (expr.kind == ExprKind::kFailed) {
      return context.Failed(at);
    }
    const TypeKind given = context.types()[expr.type].kind;
    if (context.types().HoldsObject(expr.type) || given == TypeKind::kVoid ||
        context.types().IsOpen(expr.type)) {
      context.Say(context.At(Code::kHlsl2010, expr.at)
                      .With("from", context.types().Text(expr.type))
                      .With("to", context.types().Text(type)));
      return context.Failed(at);
    }
    leaves += context.types().LeavesOf(expr.type);
  }
  if (kind != TypeKind::kNumeric || leaves != context.types().LeavesOf(type)) {
    context.Say(context.At(Code::kHlsl2019, at)
                    .With("type", context.types().Text(type))
                    .With("expected", context.types().LeavesOf(type))
                    .With("found", leaves));
    return context.Failed(at);
  }
  return MakeBuild(context, type, arguments, at);
}

// Checks one row. Of operands it takes what was made of their rows.
class Rows {
 public:
  explicit Rows(CheckContext& context) : context_(context) {}

  ExprId Of(uint32_t row) const { return context_.rows[row]; }
  std::vector<ExprId> List(uint32_t list) const {
    std::vector<ExprId> made;
    for (const uint32_t row : context_.ast.List(list)) {
      made.push_back(Of(row));
    }
    return made;
  }

  ExprId Check(const syntax::Expr& row) {
    const TokenRange at{row.begin, row.end};
    switch (row.kind) {
      case RowKind::kName:
        return MakeName(context_, row);
      case RowKind::kThis:
        return MakeThis(context_, at);
      case RowKind::kBool:
        return MakeScalar(context_, BoolValue(row.a != 0), at);
      case RowKind::kInteger:
        return OfInteger(context_, row, at);
      case RowKind::kFloat:
        return OfFloat(context_, row, at);
      case RowKind::kString:
        context_.Refuse(at, "a string", "strings");
        return context_.Failed(at);
      case RowKind::kUnary:
        return OfUnary(context_, row, Of(row.a), at);
      case RowKind::kBinary:
        return MakeBinary(context_, OperatorOf(static_cast<syntax::BinaryOp>(row.op)), Of(row.a),
                          Of(row.b), row.token, at);
      case RowKind::kLogical:
        return MakeLogical(context_,
                           static_cast<syntax::LogicalOp>(row.op) == syntax::LogicalOp::kAnd
                               ? Operator::kLogicalAnd
                               : Operator::kLogicalOr,
                           Of(row.a), Of(row.b), row.token, at);
      case RowKind::kAssign:
        return row.op == syntax::kPlainAssign
                   ? MakeAssign(context_, Of(row.a), Of(row.b), at)
                   : MakeUpdate(context_, OperatorOf(static_cast<syntax::BinaryOp>(row.op)),
                                Of(row.a), Of(row.b), row.token, at);
      // The two sides of `?:` are a list.
      case RowKind::kSelect: {
        const std::vector<ExprId> sides = List(row.b);
        return MakeSelect(context_, Of(row.a), sides[0], sides[1], at);
      }
      case RowKind::kComma:
        return OfComma(context_, Of(row.a), Of(row.b), at);
      case RowKind::kMember:
        return MakeMember(context_, Of(row.a), row.token, at);
      case RowKind::kIndex:
        // An index of a resource is a method of it.
        return context_.types()[context_.TypeOf(Of(row.a))].kind == TypeKind::kObject ||
                       IsLevels(context_.Get(Of(row.a)))
                   ? MakeObjectIndex(context_, Of(row.a), Of(row.b), at)
                   : MakeIndex(context_, Of(row.a), Of(row.b), at);
      case RowKind::kCall:
        return OfCall(row, at);
      case RowKind::kConstruct:
        return OfConstruct(context_, ResolveType(context_, row.a), List(row.b), at);
      case RowKind::kCast:
        return AsValue(context_, ConvertTo(context_, Of(row.b), ResolveType(context_, row.a),
                                           ConversionUse::kCast, at));
      // Rows that are no expressions: markers, and lists, whose items are asked for by
      // CheckList.
      case RowKind::kRight:
      case RowKind::kThen:
      case RowKind::kElse:
      case RowKind::kTypeRows:
      case RowKind::kList:
        break;
    }
    return {};
  }

 private:
  // A callee is a name or a member and was passed over; what it means depends on the arguments.
  ExprId OfCall(const syntax::Expr& row, TokenRange at) {
    const syntax::Expr& callee = context_.ast.exprs[row.a];
    const std::vector<ExprId> arguments = List(row.b);
    if (callee.kind == RowKind::kMember) {
      return MakeMethod(context_, Of(callee.a), callee.token, arguments, at);
    }
    return MakeCall(context_, callee, arguments, at);
  }

  CheckContext& context_;
};

}  // namespace

// A cast, a return, an initialiser: the result may not be assigned to. A row that changes
// nothing says so.
ExprId AsValue(CheckContext& context, ExprId id) {
  const Expr expr = context.Get(id);
  if (!expr.Is(Expr::kPlace)) {
    return id;
  }
  return Combine(context,
                 {.kind = ExprKind::kConvert, .type = expr.type, .a = id.value, .at = expr.at},
                 std::span(&id, 1), Knowable::kFixed);
}

// The loop that this file is about. Rows of the types in an expression are jumped over:
// ResolveType checks them when it needs them, and would do so twice otherwise.
ExprId CheckExpr(CheckContext& context, syntax::ExprRange range) {
  if (range.empty()) {
    return context.Failed({});
  }
  if (context.rows.size() < context.ast.exprs.size()) {
    context.rows.resize(context.ast.exprs.size());
  }
  Rows rows(context);
  for (uint32_t row = range.first; row <= range.root; ++row) {
    CheckStop();
    const syntax::Expr& expr = context.ast.exprs[row];
    if (expr.kind == RowKind::kTypeRows) {
      row = expr.a - 1;
      continue;
    }
    // A callee has no value of its own.
    if ((expr.flags & syntax::Expr::kCallee) == 0) {
      const ExprId made = rows.Check(expr);
      context.rows[row] = made;
    }
  }
  return context.rows[range.root];
}

// A list is an initialiser and no expression.
bool IsList(const CheckContext& context, syntax::ExprRange range) {
  return !range.empty() && context.ast.exprs[range.root].kind == RowKind::kList;
}

// Lists in lists are flattened depth first (spec/hlsl 7.2), with a stack.
std::vector<ExprId> CheckList(CheckContext& context, syntax::ExprRange range) {
  CheckExpr(context, range);
  if (range.empty()) {
    return {};
  }
  std::vector<ExprId> items;
  std::vector<uint32_t> pending{range.root};
  while (!pending.empty()) {
    const uint32_t row = pending.back();
    pending.pop_back();
    const syntax::Expr& expr = context.ast.exprs[row];
    if (expr.kind != RowKind::kList) {
      items.push_back(context.rows[row]);
      continue;
    }
    const std::span<const uint32_t> list = context.ast.List(expr.a);
    pending.insert(pending.end(), list.rbegin(), list.rend());
  }
  return items;
}

// spec/hlsl 7.2. A list has exactly as many leaves as the type; one value converts as in an
// assignment.
ExprId CheckInitialiser(CheckContext& context, syntax::ExprRange range, TypeId type) {
  if (range.empty()) {
    return context.Failed({});
  }
  const syntax::Expr& root = context.ast.exprs[range.root];
  const TokenRange at{root.begin, root.end};
  if (!IsList(context, range)) {
    return AsValue(
        context, ConvertTo(context, CheckExpr(context, range), type, ConversionUse::kImplicit, at));
  }
  const std::vector<ExprId> items = CheckList(context, range);
  uint64_t leaves = 0;
  bool values = true;
  for (const ExprId item : items) {
    const Expr& expr = context.Get(item);
    if (expr.kind == ExprKind::kFailed) {
      return context.Failed(at);
    }
    // Counted in 64 bits: items may be arrays.
    leaves += context.types().LeavesOf(expr.type);
    values = values && !context.types().HoldsObject(expr.type) &&
             !context.types().IsOpen(expr.type) &&
             context.types()[expr.type].kind != TypeKind::kVoid;
  }
  if (context.types().IsFailed(type)) {
    return context.Failed(at);
  }
  // HLSL2020: how many leaves an open type has is known only in a variant.
  if (context.types().IsOpen(type) || !values) {
    context.Say(context.At(Code::kHlsl2020, at).With("type", context.types().Text(type)));
    return context.Failed(at);
  }
  const uint64_t expected = context.types().LeavesOf(type);
  if (leaves != expected || leaves > context.limits.value_items) {
    context.Say(context.At(Code::kHlsl2019, at)
                    .With("type", context.types().Text(type))
                    .With("expected", expected)
                    .With("found", leaves));
    return context.Failed(at);
  }
  return MakeBuild(context, type, items, at);
}

}  // namespace kiln::hlsl
