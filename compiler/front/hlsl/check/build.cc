// SPDX-License-Identifier: MIT
// Constants, conversions and rates. A conversion of numbers is made of at most two rows: items
// first, then the shape.
// Every row of an expression goes through Combine, which is where an error in an operand
// silences the whole, where the rate is found and where trees over options are limited. Who
// makes a row without it must do all three.
#include "compiler/front/hlsl/check/build.h"

#include <algorithm>
#include <limits>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/resources/handle.h"

namespace kiln::hlsl {
namespace {

// Rows of one compile-time expression: names of constants stand for what they are made of, so
// eleven doublings are two thousand rows.
constexpr uint32_t kMaxWeight = 4096;

// Types whose values options may have: scalars that the IR's compile-time expressions compute.
bool IsKnowableType(const Types& types, TypeId id) {
  const Type& type = types[id];
  return type.kind == TypeKind::kEnum ||
         (types.IsScalar(id) && type.item != Item::kDouble && IsBuilt(type.item));
}

// The scalars of a constant as a list of their own: rows that are added move the table.
std::vector<Scalar> CopyOf(const CheckContext& context, ExprId id) {
  const std::span<const Scalar> scalars = context.unit.ScalarsOf(context.Get(id));
  return {scalars.begin(), scalars.end()};
}

bool IsConstant(const CheckContext& context, ExprId id) {
  return context.Get(id).kind == ExprKind::kConstant;
}

// An array whose extent options decide: no constructor can say how many items it has.
// Arrays and structs in each other, with a stack.
bool HasOpenExtent(const Types& types, TypeId type) {
  std::vector<TypeId> pending{type};
  while (!pending.empty()) {
    TypeId id = pending.back();
    pending.pop_back();
    for (; types[id].kind == TypeKind::kArray; id = types.ElementOf(id)) {
      if (types[id].open != kNoRow) {
        return true;
      }
    }
    if (types[id].kind == TypeKind::kStruct && types.StructOf(id).open) {
      for (uint32_t i = 0; i < types.StructOf(id).count; ++i) {
        pending.push_back(types.MemberOf(id, i).type);
      }
    }
  }
  return false;
}

// What a smaller shape keeps: the first items of the first rows.
// spec/hlsl 9.2: truncation keeps the upper left of a matrix, the beginning of a vector.
template <class Visit>
void ForKept(const Type& from, const Type& to, Visit visit) {
  const bool rows_kept =
      ValueForm(from) == Form::kMatrix && to.form == Form::kMatrix && CountOf(to) > 1;
  const uint32_t columns = ValueForm(from) == Form::kMatrix ? from.columns : CountOf(from);
  const uint32_t to_rows = rows_kept ? to.rows : 1;
  const uint32_t to_columns = rows_kept ? to.columns : CountOf(to);
  for (uint32_t row = 0; row < to_rows; ++row) {
    for (uint32_t column = 0; column < to_columns; ++column) {
      visit(row * columns + column);
    }
  }
}

// The conversion of a shape, of items that are right already.
// A constant is reshaped by its leaves; anything else is a row of one of three kinds.
ExprId Reshaped(CheckContext& context, ExprId id, TypeId to, ConversionKind kind, TokenRange at) {
  const Type from = context.types()[context.TypeOf(id)];
  const Type target = context.types()[to];
  if (IsConstant(context, id)) {
    const std::vector<Scalar> scalars = CopyOf(context, id);
    std::vector<Scalar> made;
    if (kind == ConversionKind::kSplat) {
      made.assign(CountOf(target), scalars[0]);
    } else if (kind == ConversionKind::kTruncate) {
      ForKept(from, target, [&](uint32_t leaf) { made.push_back(scalars[leaf]); });
    } else {
      made = scalars;
    }
    return MakeConstant(context, to, made, at);
  }
  if (kind == ConversionKind::kReshape) {
    return MakeBuild(context, to, std::span(&id, 1), at);
  }
  return Combine(context,
                 {.kind = kind == ConversionKind::kSplat ? ExprKind::kSplat : ExprKind::kTruncate,
                  .type = to,
                  .a = id.value,
                  .at = at},
                 std::span(&id, 1), Knowable::kFixed);
}

// Items first, then the shape: `float3 (1, 2, 3)` to int2 is three conversions and a cut, which
// for constants cost nothing.
ExprId ConvertNumber(CheckContext& context, ExprId id, TypeId to, ConversionKind kind,
                     TokenRange at) {
  const Type target = context.types()[to];
  const ExprId items = ConvertItems(context, id, target.item);
  if (kind == ConversionKind::kSplat || kind == ConversionKind::kTruncate ||
      kind == ConversionKind::kReshape) {
    return Reshaped(context, items, to, kind, at);
  }
  if (context.TypeOf(items) == to) {
    return items;
  }
  // The same value under another name: `float` as `float1`, an enum.
  if (IsConstant(context, items)) {
    const auto count = static_cast<uint32_t>(context.unit.ScalarsOf(context.Get(items)).size());
    return MakePart(context, items, to, {.first = 0, .count = count}, at);
  }
  return Combine(context, {.kind = ExprKind::kConvert, .type = to, .a = items.value, .at = at},
                 std::span(&items, 1), Knowable::kYes);
}

// A few words make a value of 65,536 items, so those of a module are limited together. What is no
// larger than a matrix is not: rows are limited by `nodes`.
bool SpendLarge(CheckContext& context, uint64_t items, TokenRange at) {
  constexpr uint64_t kItemsOfMatrix = 16;
  return items <= kItemsOfMatrix || context.Spend(context.large_items, items, at);
}

// Instructions that a mention of a constant becomes: numbers and arrays of them are one, a struct
// is put together from its members. Recursion is as deep as types nest; each type is asked once.
uint64_t CostOf(CheckContext& context, TypeId type) {
  constexpr uint64_t kMost = uint64_t{1} << 40;
  if (const uint64_t* known = context.constant_costs.Find(type.value)) {
    return *known;
  }
  TypeId item = type;
  uint64_t count = 1;
  for (; context.types()[item].kind == TypeKind::kArray; item = context.types().ElementOf(item)) {
    count = std::min(kMost, count * std::max(1u, context.types()[item].extent));
  }
  uint64_t cost = 1;
  if (context.types()[item].kind == TypeKind::kStruct) {
    for (uint32_t i = 0; i < context.types().StructOf(item).count; ++i) {
      cost += CostOf(context, context.types().MemberOf(item, i).type);
    }
    cost = std::min(kMost, count * std::min<uint64_t>(cost, 1u << 21));
  }
  context.constant_costs.Insert(type.value, cost);
  return cost;
}

ExprId ConstantOf(CheckContext& context, TypeId type, ConstantRow scalars, TokenRange at) {
  if (!SpendLarge(context, CostOf(context, type), at)) {
    return context.Failed(at);
  }
  ChargeMemory(sizeof(ConstantRow));
  context.unit.constants.push_back(scalars);
  return context.Add({.kind = ExprKind::kConstant,
                      .rate = Rate::kConstant,
                      .type = type,
                      .a = static_cast<uint32_t>(context.unit.constants.size() - 1),
                      .at = at});
}

// `(S)0` where both are known: the scalar as each leaf of the type. Invalid if some leaf has no
// such value. Zero is asked for again and again, so the last constant of a type is kept.
ExprId ConstantFill(CheckContext& context, Scalar scalar, TypeId to, TokenRange at) {
  const Fill* known = context.fills.Find(to.value);
  if (known != nullptr && known->scalar == scalar) {
    if (!SpendMention(context, known->made, at)) {
      return context.Failed(at);
    }
    Expr same = context.Get(known->made);
    same.at = at;
    return context.Add(same);
  }
  // Before the leaves are counted out: a struct of nothing has none, and an array of it has items.
  if (!SpendLarge(context, CostOf(context, to), at)) {
    return context.Failed(at);
  }
  std::vector<Scalar> made;
  made.reserve(context.types().LeavesOf(to));
  for (const Item item : LeafItems(context.types(), to)) {
    const std::optional<Scalar> converted = Converted(scalar, item);
    if (!converted) {
      return {};
    }
    made.push_back(*converted);
  }
  const ExprId id = MakeConstant(context, to, made, at);
  *context.fills.Insert(to.value, {}).first = {scalar, id};
  return id;
}

// A scalar as each leaf of a struct or array. If the type has few enough leaves, a constant makes a
// constant of it.
ExprId MakeFill(CheckContext& context, ExprId scalar, TypeId to, TokenRange at) {
  const uint64_t leaves = context.types().LeavesOf(to);
  if (IsConstant(context, scalar) && !context.types().IsOpen(to) && leaves != 0 &&
      leaves <= context.limits.value_items) {
    if (const ExprId made = ConstantFill(context, *ScalarOf(context, scalar), to, at);
        made.valid()) {
      return made;
    }
  }
  if (HasOpenExtent(context.types(), to)) {
    context.Refuse(at, context.types().Text(to), "values whose size options decide");
    return context.Failed(at);
  }
  if (!SpendLarge(context, std::max(leaves, CostOf(context, to)), at)) {
    return context.Failed(at);
  }
  return Combine(context, {.kind = ExprKind::kFill, .type = to, .a = scalar.value, .at = at},
                 std::span(&scalar, 1), Knowable::kFixed);
}

}  // namespace

// Every row of an expression is made here, so that flags, rate and weight are right. The rate
// is that of the worst operand; an operand that options cannot compute makes the whole an
// instruction that is known with options (kFixed).
ExprId Combine(CheckContext& context, Expr expr, std::span<const ExprId> operands,
               Knowable knowable) {
  const bool scalar = IsKnowableType(context.types(), expr.type);
  Rate rate = knowable == Knowable::kNo              ? Rate::kRun
              : knowable == Knowable::kYes && scalar ? Rate::kConstant
                                                     : Rate::kFixed;
  uint64_t weight = 1;
  for (const ExprId id : operands) {
    const Expr& operand = context.Get(id);
    if (operand.kind == ExprKind::kFailed) {
      return context.Failed(expr.at);
    }
    // An effect in an operand is an effect of the whole.
    expr.flags |= operand.flags & Expr::kEffect;
    rate = std::max(rate, operand.rate);
    weight += operand.weight;
    if (rate == Rate::kOption && !IsKnowableType(context.types(), operand.type)) {
      rate = Rate::kFixed;
    }
  }
  // Operands that are constant but did not fold, a quotient by zero: left to run time.
  expr.rate = rate == Rate::kConstant ? Rate::kRun : rate;
  // Saturates: a tree of trees that stand for constants could count more rows than 32 bits.
  expr.weight = static_cast<uint32_t>(std::min<uint64_t>(weight, 1u << 30));
  if (expr.rate < Rate::kRun && expr.weight > kMaxWeight) {
    context.Say(context.At(Code::kHlsl1007, expr.at)
                    .With("what", "compile-time expression")
                    .With("size", std::to_string(expr.weight) + " terms")
                    .With("limit", kMaxWeight));
    return context.Failed(expr.at);
  }
  return context.Add(expr);
}

// Scalars of all constants are one table. Callers that read from it copy first: adding moves
// it.
ExprId MakeConstant(CheckContext& context, TypeId type, std::span<const Scalar> scalars,
                    TokenRange at) {
  if (!SpendLarge(context, scalars.size(), at)) {
    return context.Failed(at);
  }
  ChargeMemory(scalars.size_bytes());
  const auto first = static_cast<uint32_t>(context.unit.scalars.size());
  context.unit.scalars.insert(context.unit.scalars.end(), scalars.begin(), scalars.end());
  return ConstantOf(context, type, {first, static_cast<uint32_t>(scalars.size())}, at);
}

// A constant of structs is as many instructions wherever it is mentioned, and a compile-time
// expression is lowered with the place of each term: a name of four letters may cost what 4096 rows
// do.
bool SpendMention(CheckContext& context, ExprId id, TokenRange at) {
  const Expr& expr = context.Get(id);
  if (expr.kind == ExprKind::kConstant) {
    return SpendLarge(context, CostOf(context, expr.type), at);
  }
  return expr.rate != Rate::kOption || expr.weight == 1 ||
         context.Spend(context.named_terms, expr.weight, at);
}

ExprId MakePart(CheckContext& context, ExprId constant, TypeId type, ConstantRow part,
                TokenRange at) {
  const ConstantRow whole = context.unit.constants[context.Get(constant).a];
  KILN_CHECK(part.first <= whole.count && part.count <= whole.count - part.first);
  return ConstantOf(context, type, {whole.first + part.first, part.count}, at);
}

ExprId MakeScalar(CheckContext& context, Scalar scalar, TokenRange at) {
  return MakeConstant(context, context.types().Scalar(scalar.item), std::span(&scalar, 1), at);
}

// Nothing if the value is no constant, or not of one scalar.
std::optional<Scalar> ScalarOf(const CheckContext& context, ExprId id) {
  const Expr& expr = context.Get(id);
  if (expr.kind != ExprKind::kConstant) {
    return std::nullopt;
  }
  const std::span<const Scalar> scalars = context.unit.ScalarsOf(expr);
  return scalars.size() == 1 ? std::optional(scalars[0]) : std::nullopt;
}

// Structs nest no deeper than the parser allows; their members are walked with a stack all the
// same.
// Items of all leaves of a type in their order.
std::vector<Item> LeafItems(const Types& types, TypeId type) {
  std::vector<Item> items;
  std::vector<TypeId> pending{type};
  while (!pending.empty()) {
    const TypeId id = pending.back();
    pending.pop_back();
    const Type& row = types[id];
    CheckStop();
    if (row.kind == TypeKind::kNumeric) {
      items.insert(items.end(), CountOf(row), row.item);
    } else if (row.kind == TypeKind::kEnum) {
      items.push_back(row.item);
    } else if (row.kind == TypeKind::kArray) {
      pending.insert(pending.end(), row.extent, types.ElementOf(id));
    } else if (row.kind == TypeKind::kStruct) {
      for (uint32_t i = types.StructOf(id).count; i > 0; --i) {
        pending.push_back(types.MemberOf(id, i - 1).type);
      }
    }
  }
  return items;
}

// The shape stays, each item is converted. A constant whose conversion is not defined stays an
// instruction (spec/hlsl 9.1).
ExprId ConvertItems(CheckContext& context, ExprId id, Item item) {
  const Expr expr = context.Get(id);
  if (expr.kind == ExprKind::kFailed) {
    return id;
  }
  const Type type = context.types()[expr.type];
  const TypeId to = type.kind == TypeKind::kEnum ? context.types().Scalar(item)
                                                 : context.types().WithItem(expr.type, item);
  if (to == expr.type) {
    return id;
  }
  if (expr.kind == ExprKind::kConstant) {
    std::vector<Scalar> made;
    for (const Scalar scalar : CopyOf(context, id)) {
      if (const std::optional<Scalar> converted = Converted(scalar, item)) {
        made.push_back(*converted);
      }
    }
    if (made.size() == context.unit.ScalarsOf(expr).size()) {
      return MakeConstant(context, to, made, expr.at);
    }
  }
  // Then the literal needs a type of its own, for at run time there are no literals.
  const ExprId operand = IsLiteral(type.item) ? Natural(context, id) : id;
  return Combine(context,
                 {.kind = ExprKind::kConvert, .type = to, .a = operand.value, .at = expr.at},
                 std::span(&operand, 1), Knowable::kYes);
}

// spec/hlsl 6.1: literals that nothing else gave a type become int, uint or float, all items
// the widest of what they need.
ExprId Natural(CheckContext& context, ExprId id) {
  const Expr expr = context.Get(id);
  const Type type = context.types()[expr.type];
  if (expr.kind != ExprKind::kConstant || type.kind != TypeKind::kNumeric ||
      !IsLiteral(type.item)) {
    return id;
  }
  Item item = Item::kInt;
  for (const Scalar scalar : context.unit.ScalarsOf(expr)) {
    const Item natural = NaturalItem(scalar);
    item = FactsOf(natural).rank > FactsOf(item).rank ? natural : item;
  }
  return ConvertItems(context, id, item);
}

// spec/hlsl 9.2. One error if the types do not convert in this way; HLSL2011 where a conversion
// that nobody wrote loses something.
ExprId ConvertTo(CheckContext& context, ExprId id, TypeId to, ConversionUse use, TokenRange at) {
  if (context.Get(id).kind == ExprKind::kFailed || context.types().IsFailed(to)) {
    return context.Failed(at);
  }
  // `ConstantBuffer<S> b; S s = b;` takes what the block contains.
  if (IsBlock(context.types(), context.TypeOf(id)) && context.TypeOf(id) != to) {
    id = ContentOf(context, id);
  }
  const TypeId from = context.TypeOf(id);
  const Conversion conversion = ConversionOf(context.types(), from, to, context.dialect());
  const bool allowed =
      use == ConversionUse::kCast ? conversion.allowed_by_cast() : conversion.implicit;
  if (!allowed) {
    context.Say(context.At(Code::kHlsl2010, at)
                    .With("from", context.types().Text(from))
                    .With("to", context.types().Text(to)));
    return context.Failed(at);
  }
  // By a cast the loss is meant.
  if (use == ConversionUse::kImplicit &&
      (conversion.kind == ConversionKind::kTruncate || conversion.reported)) {
    context.Say(context.At(Code::kHlsl2011, at)
                    .With("from", context.types().Text(from))
                    .With("to", context.types().Text(to)));
  }
  switch (conversion.kind) {
    case ConversionKind::kSame:
      // A vector of one and its scalar are the same value by two names, of which one has elements.
      return context.types().IsNumeric(to) ? ConvertNumber(context, id, to, conversion.kind, at)
                                           : id;
    case ConversionKind::kNumeric:
    case ConversionKind::kSplat:
    case ConversionKind::kTruncate:
    case ConversionKind::kReshape:
      return ConvertNumber(context, id, to, conversion.kind, at);
    case ConversionKind::kLeaves:
      return MakeBuild(context, to, std::span(&id, 1), at);
    case ConversionKind::kFill:
      return MakeFill(context, Natural(context, id), to, at);
    case ConversionKind::kNone:
      break;
  }
  KILN_UNREACHABLE();
}

// spec/hlsl 12: a condition is a scalar and converts to bool. Vectors have `any` and `all`.
ExprId Condition(CheckContext& context, ExprId id, std::string_view what) {
  const Expr expr = context.Get(id);
  const Type type = context.types()[expr.type];
  const bool scalar = type.kind == TypeKind::kEnum || context.types().IsScalar(expr.type);
  if (expr.kind != ExprKind::kFailed && !scalar) {
    context.Say(context.At(Code::kHlsl2016, expr.at)
                    .With("what", what)
                    .With("type", context.types().Text(expr.type)));
    return context.Failed(expr.at);
  }
  return ConvertTo(context, id, context.types().Scalar(Item::kBool), ConversionUse::kImplicit,
                   expr.at);
}

namespace {

// Constants among the sources as the items of the leaves that they become, so `float4 (v, 1)` has a
// float in it. One that has no such value stays, to be converted at run time.
void ConvertConstants(CheckContext& context, std::span<const Item> items,
                      std::vector<ExprId>& parts) {
  size_t leaf = 0;
  for (ExprId& part : parts) {
    const size_t count = context.types().LeavesOf(context.TypeOf(part));
    const bool inside = count != 0 && leaf + count <= items.size();
    if (inside && IsConstant(context, part) && context.types().IsNumeric(context.TypeOf(part)) &&
        std::ranges::all_of(items.subspan(leaf, count),
                            [&](Item item) { return item == items[leaf]; })) {
      part = ConvertItems(context, part, items[leaf]);
    }
    leaf += count;
  }
}

}  // namespace

// Puts values together to one of `type`, leaf by leaf. Requires: as many leaves. All constant
// makes a constant as long as each leaf has a defined conversion; otherwise a row keeps the
// parts.
ExprId MakeBuild(CheckContext& context, TypeId type, std::span<const ExprId> sources,
                 TokenRange at) {
  // Each leaf may be taken out of its source level by level.
  uint32_t depth = 1;
  for (const ExprId source : sources) {
    depth = std::max(depth, context.types().DepthOf(context.TypeOf(source)));
  }
  if (!SpendLarge(context, std::max(context.types().LeavesOf(type) * depth, CostOf(context, type)),
                  at)) {
    return context.Failed(at);
  }
  // A literal takes the item of its leaf, as long as it is one: 2^32 is a float, but no int.
  std::vector<ExprId> parts(sources.begin(), sources.end());
  const std::vector<Item> items = LeafItems(context.types(), type);
  ConvertConstants(context, items, parts);
  for (ExprId& part : parts) {
    part = Natural(context, part);
  }
  std::vector<Scalar> made;
  for (const ExprId part : parts) {
    const size_t before = made.size();
    for (const Scalar scalar :
         IsConstant(context, part) ? CopyOf(context, part) : std::vector<Scalar>{}) {
      if (made.size() < items.size() && Converted(scalar, items[made.size()])) {
        made.push_back(*Converted(scalar, items[made.size()]));
      }
    }
    if (made.size() - before != context.types().LeavesOf(context.TypeOf(part))) {
      break;
    }
  }
  if (!parts.empty() && !items.empty() && made.size() == items.size()) {
    return MakeConstant(context, type, made, at);
  }
  return Combine(
      context,
      {.kind = ExprKind::kBuild, .type = type, .a = context.AddList(parts).value, .at = at}, parts,
      Knowable::kFixed);
}

}  // namespace kiln::hlsl
