// SPDX-License-Identifier: MIT
// Arguments of an ordinary row take their common type, then the items of the row. What an intrinsic
// of its own takes is a function here; where it is an operator by another name it becomes that
// operator, so nothing behind this file knows of `and`, `select` or `sincos`.
#include "compiler/front/hlsl/check/intrinsic_call.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/build_operator.h"
#include "compiler/front/hlsl/check/call.h"
#include "compiler/front/hlsl/check/resources/atomic.h"

namespace kiln::hlsl {
namespace {

// One call: what it is and where, for rows and messages.
struct Call {
  CheckContext& context;
  Intrinsic intrinsic;
  uint32_t name;
  TokenRange at;

  // HLSL2021 says the types that were given; all candidates would be a long list.
  ExprId NoSuch(std::span<const ExprId> arguments) const {
    context.Say(context.At(Code::kHlsl2021, name)
                    .With("name", context.Text(name))
                    .With("types", TypesText(context, arguments)));
    return context.Failed(at);
  }
  // `part` says which of two results is meant, as of `frexp`.
  ExprId Make(TypeId type, std::span<const ExprId> arguments, uint8_t flags = 0,
              uint32_t part = kNoRow) const {
    return Combine(context,
                   {.kind = ExprKind::kIntrinsic,
                    .flags = flags,
                    .op = static_cast<uint8_t>(intrinsic),
                    .type = type,
                    .b = context.AddList(arguments).value,
                    .c = part,
                    .at = at},
                   arguments, (flags & Expr::kEffect) == 0 ? Knowable::kFixed : Knowable::kNo);
  }
  // Converts as an argument does (spec/hlsl 9.5).
  ExprId To(ExprId id, TypeId type) const {
    return ConvertTo(context, id, type, ConversionUse::kImplicit, context.Get(id).at);
  }
};

// The item that arguments of a class take; nothing if it is not for them.
// spec/hlsl 9.5: bool counts as int where numbers are wanted, and everything as float where
// floats are. Nothing if floats are given where integers are wanted.
std::optional<Item> ItemFor(ArgumentItems items, Item item) {
  switch (items) {
    case ArgumentItems::kFloat:
      return IsFloat(item) && item != Item::kDouble && !IsLiteral(item) ? item : Item::kFloat;
    case ArgumentItems::kNumber:
      return item == Item::kBool ? Item::kInt : item;
    case ArgumentItems::kInteger:
      return IsFloat(item) ? std::nullopt : std::optional(item == Item::kBool ? Item::kInt : item);
    case ArgumentItems::kBool:
      return Item::kBool;
    case ArgumentItems::kAll:
      break;
  }
  return item;
}

// All arguments as their common type with items of the class; false if there is none.
// The common type of all, pair by pair from the left, then the item that the class takes.
bool UnifyAll(const Call& call, ArgumentItems items, std::vector<ExprId>& arguments) {
  CheckContext& context = call.context;
  std::optional<TypeId> common;
  for (ExprId& argument : arguments) {
    const Type type = context.types()[context.TypeOf(argument)];
    if (type.kind == TypeKind::kEnum) {
      argument = ConvertItems(context, argument, type.item);
    } else if (type.kind != TypeKind::kNumeric) {
      return false;
    }
    if (!common) {
      common = context.TypeOf(argument);
      continue;
    }
    const auto both =
        CommonTypeOf(context.types(), *common, context.TypeOf(argument), Purpose::kChoice);
    if (!both) {
      return false;
    }
    common = both->type;
  }
  if (!common) {
    return true;
  }
  const std::optional<Item> item = ItemFor(items, context.types()[*common].item);
  if (!item) {
    return false;
  }
  const TypeId type = context.types().WithItem(*common, *item);
  for (ExprId& argument : arguments) {
    argument = Natural(context, call.To(argument, type));
  }
  return true;
}

// The shape of the arguments with another item, or less of it.
TypeId ResultOf(CheckContext& context, IntrinsicResult result, TypeId argument) {
  Types& types = context.types();
  switch (result) {
    case IntrinsicResult::kSame:
    case IntrinsicResult::kOwn:
      return argument;
    case IntrinsicResult::kScalar:
      return types.Scalar(types[argument].item);
    case IntrinsicResult::kBool:
      return types.WithItem(argument, Item::kBool);
    case IntrinsicResult::kOne:
      return types.Scalar(Item::kBool);
    case IntrinsicResult::kInt:
      return types.WithItem(argument, Item::kInt);
    case IntrinsicResult::kUint:
      break;
  }
  return types.WithItem(argument, Item::kUint);
}

// Rows and columns as `mul` sees an operand: a vector on the left is a row, on the right a column.
// spec/hlsl 6.3 and 18 (mul).
struct Extent {
  uint32_t rows = 1;
  uint32_t columns = 1;
};
Extent ExtentOf(const Type& type, bool left) {
  if (type.form == Form::kMatrix) {
    return {type.rows, type.columns};
  }
  return left ? Extent{1, CountOf(type)} : Extent{CountOf(type), 1};
}

// A scalar on either side is a product by items. Otherwise inner extents must agree; the result
// is a matrix only if both are.
ExprId Mul(const Call& call, std::vector<ExprId> arguments) {
  CheckContext& context = call.context;
  for (ExprId& argument : arguments) {
    const Type type = context.types()[context.TypeOf(argument)];
    if (type.kind == TypeKind::kEnum) {
      argument = ConvertItems(context, argument, type.item);
    } else if (type.kind != TypeKind::kNumeric) {
      return call.NoSuch(arguments);
    }
  }
  Type a = context.types()[context.TypeOf(arguments[0])];
  Type b = context.types()[context.TypeOf(arguments[1])];
  if (a.form == Form::kScalar || b.form == Form::kScalar) {
    return MakeBinary(context, Operator::kMul, arguments[0], arguments[1], call.name, call.at);
  }
  const Item item = CommonItem(a.item, b.item, Purpose::kArithmetic);
  for (ExprId& argument : arguments) {
    argument = Natural(context, ConvertItems(context, argument, item));
  }
  const Item made = context.types()[context.TypeOf(arguments[0])].item;
  const Extent left = ExtentOf(a, true);
  const Extent right = ExtentOf(b, false);
  if (left.columns != right.rows) {
    return call.NoSuch(arguments);
  }
  const bool matrices = a.form == Form::kMatrix && b.form == Form::kMatrix;
  const uint32_t count = left.rows * right.columns;
  const TypeId type = matrices ? context.types().Matrix(made, left.rows, right.columns)
                               : context.types().Vector(made, count);
  return call.Make(type, arguments);
}

// Only of three floats; there is no other form (spec/hlsl 18).
ExprId Cross(const Call& call, std::vector<ExprId> arguments) {
  const TypeId type = call.context.types().Vector(Item::kFloat, 3);
  for (ExprId& argument : arguments) {
    if (!call.context.types().IsNumeric(call.context.TypeOf(argument))) {
      return call.NoSuch(arguments);
    }
    argument = call.To(argument, type);
  }
  return call.Make(type, arguments);
}

// The last argument is a scalar, the others are of one type.
ExprId Refract(const Call& call, std::vector<ExprId> arguments) {
  std::vector<ExprId> vectors(arguments.begin(), arguments.end() - 1);
  if (!UnifyAll(call, ArgumentItems::kFloat, vectors) ||
      !call.context.types().IsNumeric(call.context.TypeOf(arguments[2]))) {
    return call.NoSuch(arguments);
  }
  const TypeId type = call.context.TypeOf(vectors[0]);
  if (ValueForm(call.context.types()[type]) == Form::kMatrix) {
    return call.NoSuch(arguments);
  }
  vectors.push_back(
      call.To(arguments[2], call.context.types().Scalar(call.context.types()[type].item)));
  return call.Make(type, vectors);
}

// Both sides exist, so no branch: the row of `?:` whose condition has a flag for each item.
// spec/hlsl 3.2: what `?:` was for vectors in 2018.
ExprId Select(const Call& call, std::vector<ExprId> arguments) {
  CheckContext& context = call.context;
  std::vector<ExprId> sides(arguments.begin() + 1, arguments.end());
  if (!UnifyAll(call, ArgumentItems::kAll, sides) ||
      !context.types().IsNumeric(context.TypeOf(arguments[0]))) {
    return call.NoSuch(arguments);
  }
  const TypeId type = context.TypeOf(sides[0]);
  const ExprId flags = ConvertItems(context, arguments[0], Item::kBool);
  const bool one = context.types().IsScalar(context.TypeOf(flags));
  const ExprId condition =
      one ? flags : call.To(flags, context.types().WithItem(type, Item::kBool));
  const ExprId all[] = {condition, sides[0], sides[1]};
  return Combine(context,
                 {.kind = ExprKind::kSelect,
                  .type = type,
                  .a = condition.value,
                  .b = sides[0].value,
                  .c = sides[1].value,
                  .at = call.at},
                 all, Knowable::kFixed);
}

// `and` and `or` are operators over flags; in 2018 `&&` and `||` make the same row.
ExprId Logic(const Call& call, Operator op, std::vector<ExprId> arguments) {
  if (!UnifyAll(call, ArgumentItems::kBool, arguments)) {
    return call.NoSuch(arguments);
  }
  return Combine(call.context,
                 {.kind = ExprKind::kBinary,
                  .op = static_cast<uint8_t>(op),
                  .type = call.context.TypeOf(arguments[0]),
                  .a = arguments[0].value,
                  .b = arguments[1].value,
                  .at = call.at},
                 arguments, Knowable::kYes);
}

// `transpose` takes any items, `determinant` floats and a square.
ExprId Matrix(const Call& call, std::vector<ExprId> arguments) {
  CheckContext& context = call.context;
  const Type type = context.types()[context.TypeOf(arguments[0])];
  if (type.kind != TypeKind::kNumeric || type.form != Form::kMatrix) {
    return call.NoSuch(arguments);
  }
  const ExprId value = Natural(context, arguments[0]);
  if (call.intrinsic == Intrinsic::kTranspose) {
    return call.Make(context.types().Matrix(context.types()[context.TypeOf(value)].item,
                                            type.columns, type.rows),
                     std::span(&value, 1));
  }
  if (type.rows != type.columns) {
    return call.NoSuch(arguments);
  }
  const ExprId floats = ConvertItems(context, value, *ItemFor(ArgumentItems::kFloat, type.item));
  return call.Make(context.types().Scalar(context.types()[context.TypeOf(floats)].item),
                   std::span(&floats, 1));
}

// asfloat, asint, asuint, f16tof32, f32tof16: the shape stays, the item is another.
// spec/hlsl 18: widths are equal, so the bits are taken as they are.
ExprId Recast(const Call& call, std::vector<ExprId> arguments) {
  CheckContext& context = call.context;
  const bool half = call.intrinsic == Intrinsic::kF16tof32;
  if (!UnifyAll(call, FactsOf(call.intrinsic).items, arguments)) {
    return call.NoSuch(arguments);
  }
  ExprId value = arguments[0];
  if (half) {
    value = ConvertItems(context, value, Item::kUint);
  }
  const Type type = context.types()[context.TypeOf(value)];
  if (type.item == Item::kDouble || (FactsOf(call.intrinsic).shapes == ArgumentShapes::kVector &&
                                     ValueForm(type) == Form::kMatrix)) {
    return call.NoSuch(arguments);
  }
  const Item item = half || call.intrinsic == Intrinsic::kAsfloat ? Item::kFloat
                    : call.intrinsic == Intrinsic::kAsint         ? Item::kInt
                                                                  : Item::kUint;
  return call.Make(context.types().WithItem(context.TypeOf(value), item), std::span(&value, 1));
}

// sincos, frexp, modf: one value, and results through places.
// The value is computed once, in a `let`, and each output is an assignment over it, so that all
// conversions and places of assignments hold for outputs as well.
ExprId Outputs(const Call& call, std::vector<ExprId> arguments) {
  CheckContext& context = call.context;
  std::vector<ExprId> value{arguments[0]};
  if (!UnifyAll(call, ArgumentItems::kFloat, value)) {
    return call.NoSuch(arguments);
  }
  for (size_t i = 1; i < arguments.size(); ++i) {
    const Expr place = context.Get(arguments[i]);
    if (!place.Is(Expr::kPlace) || place.Is(Expr::kConst)) {
      context.Say(context.At(Code::kHlsl2023, place.at)
                      .With("index", i + 1)
                      .With("name", context.Text(call.name))
                      .With("text", context.Text(place.at)));
      return context.Failed(call.at);
    }
  }
  const TypeId type = context.TypeOf(value[0]);
  const ExprId given = MakeGiven(context, type, 0, call.at);
  const std::span<const ExprId> of(&given, 1);
  ExprId body;
  TypeId result = context.types().Void();
  if (call.intrinsic == Intrinsic::kSincos) {
    const Call sine{context, Intrinsic::kSin, call.name, call.at};
    const Call cosine{context, Intrinsic::kCos, call.name, call.at};
    const ExprId first = MakeAssign(context, arguments[1], sine.Make(type, of), call.at);
    const ExprId second = MakeAssign(context, arguments[2], cosine.Make(type, of), call.at);
    const ExprId both[] = {first, second};
    body = Combine(context,
                   {.kind = ExprKind::kComma,
                    .type = type,
                    .a = first.value,
                    .b = second.value,
                    .at = call.at},
                   both, Knowable::kNo);
    // A function of two results is one row for each of them.
  } else {
    const ExprId first = MakeAssign(context, arguments[1], call.Make(type, of, 0, 1), call.at);
    const ExprId second = call.Make(type, of, 0, 0);
    const ExprId both[] = {first, second};
    body = Combine(context,
                   {.kind = ExprKind::kComma,
                    .type = type,
                    .a = first.value,
                    .b = second.value,
                    .at = call.at},
                   both, Knowable::kNo);
    result = type;
  }
  const ExprId both[] = {value[0], body};
  return Combine(context,
                 {.kind = ExprKind::kLet,
                  .flags = Expr::kEffect,
                  .type = result,
                  .a = value[0].value,
                  .b = body.value,
                  .at = call.at},
                 both, Knowable::kNo);
}

// lit, dst, D3DCOLORtoUBYTE4: fixed types.
ExprId Fixed(const Call& call, std::vector<ExprId> arguments) {
  Types& types = call.context.types();
  const TypeId four = types.Vector(Item::kFloat, 4);
  const TypeId of = call.intrinsic == Intrinsic::kLit ? types.Scalar(Item::kFloat) : four;
  for (ExprId& argument : arguments) {
    if (!types.IsNumeric(call.context.TypeOf(argument))) {
      return call.NoSuch(arguments);
    }
    argument = call.To(argument, of);
  }
  return call.Make(
      call.intrinsic == Intrinsic::kD3DCOLORtoUBYTE4 ? types.Vector(Item::kInt, 4) : four,
      arguments);
}

// Rows of the table that need nothing of their own.
ExprId Ordinary(const Call& call, std::vector<ExprId> arguments) {
  CheckContext& context = call.context;
  const IntrinsicFacts& facts = FactsOf(call.intrinsic);
  if (!UnifyAll(call, facts.items, arguments)) {
    return call.NoSuch(arguments);
  }
  const TypeId type = context.TypeOf(arguments[0]);
  const Type row = context.types()[type];
  // A matrix where vectors are wanted, such as `dot`, fits no candidate.
  if (facts.shapes == ArgumentShapes::kVector && ValueForm(row) == Form::kMatrix) {
    return call.NoSuch(arguments);
  }
  if (call.intrinsic == Intrinsic::kClip) {
    return call.Make(context.types().Void(), arguments, Expr::kEffect);
  }
  return call.Make(ResultOf(context, facts.result, type), arguments);
}

// Rows whose class is kOwn. Everything that is not named here is an atomic.
ExprId OfItsOwn(const Call& call, const std::vector<ExprId>& arguments) {
  switch (call.intrinsic) {
    case Intrinsic::kMul:
      return Mul(call, arguments);
    case Intrinsic::kCross:
      return Cross(call, arguments);
    case Intrinsic::kRefract:
      return Refract(call, arguments);
    case Intrinsic::kSelect:
      return Select(call, arguments);
    case Intrinsic::kTranspose:
    case Intrinsic::kDeterminant:
      return Matrix(call, arguments);
    case Intrinsic::kSincos:
    case Intrinsic::kFrexp:
    case Intrinsic::kModf:
      return Outputs(call, arguments);
    case Intrinsic::kLit:
    case Intrinsic::kDst:
    case Intrinsic::kD3DCOLORtoUBYTE4:
      return Fixed(call, arguments);
    case Intrinsic::kGroupMemoryBarrier:
    case Intrinsic::kDeviceMemoryBarrier:
    case Intrinsic::kAllMemoryBarrier:
    case Intrinsic::kGroupMemoryBarrierWithGroupSync:
    case Intrinsic::kDeviceMemoryBarrierWithGroupSync:
    case Intrinsic::kAllMemoryBarrierWithGroupSync:
      return call.Make(call.context.types().Void(), {}, Expr::kEffect);
    case Intrinsic::kNonUniformResourceIndex: {  // the index itself, marked
      if (!call.context.types().IsScalar(call.context.TypeOf(arguments[0]))) {
        return call.NoSuch(arguments);
      }
      const ExprId index = call.To(arguments[0], call.context.types().Scalar(Item::kUint));
      return call.Make(call.context.TypeOf(index), std::span(&index, 1));
    }
    default:
      return MakeAtomic(call.context, call.intrinsic, arguments, call.name, call.at);
  }
}

}  // namespace

// Tiers above the built one are refused by name (spec/hlsl 2). The number of arguments is that
// of the row, of atomics one less where the old value is not asked for.
ExprId MakeIntrinsic(CheckContext& context, Intrinsic intrinsic, std::span<const ExprId> arguments,
                     uint32_t name, TokenRange at) {
  const Call call{context, intrinsic, name, at};
  const IntrinsicFacts& facts = FactsOf(intrinsic);
  if (facts.tier > kBuiltTier) {
    context.Refuse({name, name + 1}, facts.name, "intrinsics of a later tier");
    return context.Failed(at);
  }
  const bool atomic = IsAtomic(intrinsic);
  if (arguments.size() != facts.count && !(atomic && arguments.size() + 1 == facts.count)) {
    return call.NoSuch(arguments);
  }
  std::vector<ExprId> copy(arguments.begin(), arguments.end());
  if (intrinsic == Intrinsic::kAnd || intrinsic == Intrinsic::kOr) {
    return Logic(call, intrinsic == Intrinsic::kAnd ? Operator::kLogicalAnd : Operator::kLogicalOr,
                 copy);
  }
  const bool recast = intrinsic == Intrinsic::kAsfloat || intrinsic == Intrinsic::kAsint ||
                      intrinsic == Intrinsic::kAsuint || intrinsic == Intrinsic::kF16tof32 ||
                      intrinsic == Intrinsic::kF32tof16;
  if (recast) {
    return Recast(call, copy);
  }
  const bool own = facts.shapes == ArgumentShapes::kOwn;
  return own ? OfItsOwn(call, copy) : Ordinary(call, copy);
}

}  // namespace kiln::hlsl
