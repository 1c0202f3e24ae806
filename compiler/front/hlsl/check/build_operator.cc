// SPDX-License-Identifier: MIT
// Unary and binary operators, `&&`, `||` and `?:`. Each brings its operands to the types that
// the operator works on, folds constants, and makes a row of what is left; spec/hlsl 10.
// Dialects differ in the last three only, and the difference is a kind of row: lowering knows
// no dialect.
#include "compiler/front/hlsl/check/build_operator.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/check/build.h"

namespace kiln::hlsl {
namespace {

// In silence: what is wrong with an operand was said.
bool AnyFailed(const CheckContext& context, std::initializer_list<ExprId> ids) {
  return std::ranges::any_of(ids,
                             [&](ExprId id) { return context.Get(id).kind == ExprKind::kFailed; });
}

// Enums count as what they are made of.
ExprId Plain(CheckContext& context, ExprId id) {
  const Type type = context.types()[context.TypeOf(id)];
  return type.kind == TypeKind::kEnum ? ConvertItems(context, id, type.item) : id;
}

ExprId NoOperator(CheckContext& context, Operator op, ExprId left, ExprId right, uint32_t token,
                  TokenRange at) {
  context.Say(context.At(Code::kHlsl2013, token)
                  .With("op", FactsOf(op).text)
                  .With("left", context.TypeText(left))
                  .With("right", context.TypeText(right)));
  return context.Failed(at);
}

// HLSL2014.
bool TakesInteger(CheckContext& context, Operator op, ExprId operand, uint32_t token) {
  if (!IsFloat(context.types()[context.TypeOf(operand)].item)) {
    return true;
  }
  context.Say(context.At(Code::kHlsl2014, token)
                  .With("op", FactsOf(op).text)
                  .With("type", context.TypeText(operand)));
  return false;
}

// Both as the type that they have in common; false if there is none. Diagnostics: HLSL2011.
// spec/hlsl 9.3. Each side converts with its own place in the message.
bool Unify(CheckContext& context, ExprId& left, ExprId& right, Purpose purpose) {
  const std::optional<CommonType> common =
      CommonTypeOf(context.types(), context.TypeOf(left), context.TypeOf(right), purpose);
  if (!common) {
    return false;
  }
  for (ExprId* side : {&left, &right}) {
    *side =
        ConvertTo(context, *side, common->type, ConversionUse::kImplicit, context.Get(*side).at);
  }
  return true;
}

// Nothing if an operand is no constant, or if one leaf has no defined result: then the
// instruction stays.
std::optional<std::vector<Scalar>> FoldLeaves(const CheckContext& context, Operator op, ExprId left,
                                              ExprId right) {
  const Expr& a = context.Get(left);
  const Expr& b = context.Get(right);
  if (a.kind != ExprKind::kConstant || b.kind != ExprKind::kConstant) {
    return std::nullopt;
  }
  std::vector<Scalar> made;
  const std::span<const Scalar> x = context.unit.ScalarsOf(a);
  const std::span<const Scalar> y = context.unit.ScalarsOf(b);
  for (size_t i = 0; i < x.size(); ++i) {
    const std::optional<Scalar> value = Fold(op, x[i], y[i]);
    if (!value) {
      return std::nullopt;
    }
    made.push_back(*value);
  }
  return made;
}

// In shifts the left operand gives the item, and the amount converts to it.
// spec/hlsl 10.1. A literal that is shifted by a value that is none takes its natural type
// first.
bool UnifyShift(CheckContext& context, ExprId& left, ExprId& right) {
  const Item item = context.types()[context.TypeOf(left)].item;
  const Item own = item == Item::kBool ? Item::kInt : item;
  left = ConvertItems(context, left, own);
  const bool literals =
      own == Item::kLiteralInt && context.types()[context.TypeOf(right)].item == Item::kLiteralInt;
  if (own == Item::kLiteralInt && !literals) {
    left = Natural(context, left);
  }
  right = ConvertItems(context, right, context.types()[context.TypeOf(left)].item);
  return Unify(context, left, right, Purpose::kArithmetic);
}

// HLSL2042, also where nothing folds.
void WarnOfZero(CheckContext& context, Operator op, ExprId right, uint32_t token) {
  const Expr& divisor = context.Get(right);
  if ((op == Operator::kDiv || op == Operator::kMod) && divisor.kind == ExprKind::kConstant &&
      std::ranges::any_of(context.unit.ScalarsOf(divisor), IsZero)) {
    context.Say(context.At(Code::kHlsl2042, token).With("op", FactsOf(op).text));
  }
}

}  // namespace

// spec/hlsl 10.2. `!` makes flags, `-`, `+` and `~` of flags make ints.
ExprId MakeUnary(CheckContext& context, Operator op, ExprId operand, uint32_t token,
                 TokenRange at) {
  operand = Plain(context, operand);
  if (AnyFailed(context, {operand})) {
    return context.Failed(at);
  }
  if (!context.types().IsNumeric(context.TypeOf(operand))) {
    context.Say(context.At(Code::kHlsl2010, token)
                    .With("from", context.TypeText(operand))
                    .With("to", op == Operator::kNot ? "bool" : "number"));
    return context.Failed(at);
  }
  const Item item = context.types()[context.TypeOf(operand)].item;
  if (op == Operator::kNot) {
    operand = ConvertItems(context, operand, Item::kBool);
  } else if (item == Item::kBool) {
    operand = ConvertItems(context, operand, Item::kInt);
  }
  if (op == Operator::kComplement && !TakesInteger(context, op, operand, token)) {
    return context.Failed(at);
  }
  const Expr expr = context.Get(operand);
  if (expr.kind == ExprKind::kConstant) {
    std::vector<Scalar> made;
    for (const Scalar scalar : context.unit.ScalarsOf(expr)) {
      made.push_back(*Fold(op, scalar));
    }
    return MakeConstant(context, expr.type, made, at);
  }
  // `+a` changes nothing but that it is a value: it may not be assigned to.
  if (op == Operator::kPlus) {  // a value, no place
    return Combine(context,
                   {.kind = ExprKind::kConvert, .type = expr.type, .a = operand.value, .at = at},
                   std::span(&operand, 1), Knowable::kYes);
  }
  return Combine(context,
                 {.kind = ExprKind::kUnary,
                  .op = static_cast<uint8_t>(op),
                  .type = expr.type,
                  .a = operand.value,
                  .at = at},
                 std::span(&operand, 1), Knowable::kYes);
}

// spec/hlsl 10.1: operands to their common type, then the operator over items.
ExprId MakeBinary(CheckContext& context, Operator op, ExprId left, ExprId right, uint32_t token,
                  TokenRange at) {
  left = Plain(context, left);
  right = Plain(context, right);
  if (AnyFailed(context, {left, right})) {
    return context.Failed(at);
  }
  if (!context.types().IsNumeric(context.TypeOf(left)) ||
      !context.types().IsNumeric(context.TypeOf(right))) {
    return NoOperator(context, op, left, right, token, at);
  }
  const OperatorClass op_class = FactsOf(op).op_class;
  const bool integers = op_class == OperatorClass::kBitwise || op_class == OperatorClass::kShift;
  if (integers &&
      !(TakesInteger(context, op, left, token) && TakesInteger(context, op, right, token))) {
    return context.Failed(at);
  }
  // Comparing for equality leaves flags as they are; arithmetic makes ints of them.
  const Purpose purpose =
      op_class == OperatorClass::kEquality ? Purpose::kChoice : Purpose::kArithmetic;
  const bool met = op_class == OperatorClass::kShift ? UnifyShift(context, left, right)
                                                     : Unify(context, left, right, purpose);
  if (!met) {
    return NoOperator(context, op, left, right, token, at);
  }
  if (AnyFailed(context, {left, right})) {
    return context.Failed(at);
  }
  WarnOfZero(context, op, right, token);
  const TypeId operands = context.TypeOf(left);
  const TypeId result =
      IsComparison(op) ? context.types().WithItem(operands, Item::kBool) : operands;
  if (const auto made = FoldLeaves(context, op, left, right)) {
    return MakeConstant(context, result, *made, at);
  }
  if (IsLiteral(context.types()[operands].item)) {  // a quotient of literals by zero
    left = Natural(context, left);
    right = ConvertItems(context, right, context.types()[context.TypeOf(left)].item);
  }
  const ExprId both[] = {left, right};
  const TypeId type = IsComparison(op) ? result : context.TypeOf(left);
  return Combine(context,
                 {.kind = ExprKind::kBinary,
                  .op = static_cast<uint8_t>(op),
                  .type = type,
                  .a = left.value,
                  .b = right.value,
                  .at = at},
                 both,
                 // a rest of floats has no compile-time expression in the IR
                 op == Operator::kMod && IsFloat(context.types()[type].item) ? Knowable::kFixed
                                                                             : Knowable::kYes);
}

// 2018: both sides, item by item. 2021: scalars, the right side only if needed.
// spec/hlsl 3.2 and 10.2.
ExprId MakeLogical(CheckContext& context, Operator op, ExprId left, ExprId right, uint32_t token,
                   TokenRange at) {
  left = Plain(context, left);
  right = Plain(context, right);
  if (AnyFailed(context, {left, right})) {
    return context.Failed(at);
  }
  if (!context.types().IsNumeric(context.TypeOf(left)) ||
      !context.types().IsNumeric(context.TypeOf(right))) {
    return NoOperator(context, op, left, right, token, at);
  }
  left = ConvertItems(context, left, Item::kBool);
  right = ConvertItems(context, right, Item::kBool);
  const bool scalars = context.types().IsScalar(context.TypeOf(left)) &&
                       context.types().IsScalar(context.TypeOf(right));
  const bool later = context.dialect() == Dialect::k2021;
  if (later && !scalars) {
    context.Say(context.At(Code::kHlsl2015, token)
                    .With("op", FactsOf(op).text)
                    .With("replacement", op == Operator::kLogicalAnd ? "and (…)" : "or (…)"));
    return context.Failed(at);
  }
  if (!Unify(context, left, right, Purpose::kChoice)) {
    return NoOperator(context, op, left, right, token, at);
  }
  if (AnyFailed(context, {left, right})) {
    return context.Failed(at);
  }
  const TypeId type = context.TypeOf(left);
  if (const auto made = FoldLeaves(context, op, left, right)) {
    return MakeConstant(context, type, *made, at);
  }
  const ExprId both[] = {left, right};
  return Combine(context,
                 {.kind = later ? ExprKind::kLogical : ExprKind::kBinary,
                  .op = static_cast<uint8_t>(op),
                  .type = type,
                  .a = left.value,
                  .b = right.value,
                  .at = at},
                 both, Knowable::kYes);
}

namespace {

// The sides of a choice as one type; false after HLSL2013.
// Structs, arrays and handles must be of one type; numbers meet in a common one.
bool UnifySides(CheckContext& context, ExprId& then, ExprId& otherwise, TokenRange at) {
  if (context.TypeOf(then) == context.TypeOf(otherwise) &&
      !context.types().IsNumeric(context.TypeOf(then))) {
    return true;
  }
  then = Plain(context, then);
  otherwise = Plain(context, otherwise);
  const bool numbers = context.types().IsNumeric(context.TypeOf(then)) &&
                       context.types().IsNumeric(context.TypeOf(otherwise));
  if (!numbers || !Unify(context, then, otherwise, Purpose::kChoice)) {
    context.Say(context.At(Code::kHlsl2013, at)
                    .With("op", "?:")
                    .With("left", context.TypeText(then))
                    .With("right", context.TypeText(otherwise)));
    return false;
  }
  return true;
}

}  // namespace

// spec/hlsl 10.2. In 2018 a condition may have a flag for each item.
ExprId MakeSelect(CheckContext& context, ExprId condition, ExprId then, ExprId otherwise,
                  TokenRange at) {
  if (AnyFailed(context, {condition, then, otherwise})) {
    return context.Failed(at);
  }
  const bool later = context.dialect() == Dialect::k2021;
  const TypeId asked = context.TypeOf(condition);
  if (later || !context.types().IsNumeric(asked)) {
    condition = Condition(context, condition, "'?:'");
  } else {
    condition = ConvertItems(context, condition, Item::kBool);
  }
  if (AnyFailed(context, {condition}) || !UnifySides(context, then, otherwise, at)) {
    return context.Failed(at);
  }
  // A known condition picks its side, unless the other one has an effect. A place is kept in
  // the row, as the result of `?:` is a value.
  if (const std::optional<Scalar> known = ScalarOf(context, condition)) {
    const ExprId chosen = known->bits != 0 ? then : otherwise;
    const ExprId other = known->bits != 0 ? otherwise : then;
    if (!context.Get(other).Is(Expr::kEffect) && !context.Get(chosen).Is(Expr::kPlace)) {
      return chosen;
    }
  }
  // Both sides are literals: one type of both, since the choice is made at run time.
  if (IsLiteral(context.types()[context.TypeOf(then)].item) &&
      context.types().IsNumeric(context.TypeOf(then))) {
    then = Natural(context, then);
    otherwise = Natural(context, otherwise);
    Unify(context, then, otherwise, Purpose::kChoice);
  }
  // One flag for each item: shapes meet. See spec/hlsl 9.3
  if (!context.types().IsScalar(context.TypeOf(condition))) {
    const Item item = context.types()[context.TypeOf(then)].item;
    if (!context.types().IsNumeric(context.TypeOf(then))) {
      context.Say(context.At(Code::kHlsl2016, context.Get(condition).at)
                      .With("what", "'?:'")
                      .With("type", context.TypeText(condition)));
      return context.Failed(at);
    }
    const auto common = CommonTypeOf(context.types(), context.TypeOf(condition),
                                     context.TypeOf(then), Purpose::kChoice);
    if (!common) {
      return NoOperator(context, Operator::kEqual, condition, then, at.begin, at);
    }
    const TypeId shape = context.types().WithItem(common->type, item);
    then = ConvertTo(context, then, shape, ConversionUse::kImplicit, context.Get(then).at);
    otherwise =
        ConvertTo(context, otherwise, shape, ConversionUse::kImplicit, context.Get(otherwise).at);
    condition = ConvertTo(context, condition, context.types().WithItem(shape, Item::kBool),
                          ConversionUse::kImplicit, context.Get(condition).at);
  }
  // In 2021 the side that is not chosen is not evaluated; without effects nobody can tell, and
  // a selection of two values is cheaper.
  const bool effects =
      context.Get(then).Is(Expr::kEffect) || context.Get(otherwise).Is(Expr::kEffect);
  const ExprId all[] = {condition, then, otherwise};
  return Combine(context,
                 {.kind = later && effects ? ExprKind::kConditional : ExprKind::kSelect,
                  .type = context.TypeOf(then),
                  .a = condition.value,
                  .b = then.value,
                  .c = otherwise.value,
                  .at = at},
                 all, Knowable::kYes);
}

}  // namespace kiln::hlsl
