// SPDX-License-Identifier: MIT
// An expression is either put on the spine, whose first operand is lowered before it, or a leaf,
// which looks after its operands itself. What options decide is one instruction, whatever it is
// made of.
#include "compiler/front/hlsl/lower/value.h"

#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/lower/assign.h"
#include "compiler/front/hlsl/lower/build.h"
#include "compiler/front/hlsl/lower/call.h"
#include "compiler/front/hlsl/lower/cexpr.h"
#include "compiler/front/hlsl/lower/image.h"
#include "compiler/front/hlsl/lower/intrinsic.h"
#include "compiler/front/hlsl/lower/operator.h"
#include "compiler/front/hlsl/lower/place.h"
#include "compiler/front/hlsl/lower/shape.h"
#include "compiler/front/hlsl/lower/type.h"

namespace kiln::hlsl {
namespace {

// A compile-time expression over options.
bool IsOption(const LowerContext& context, uint32_t id) {
  return context.Get(ExprId{id}).rate == Rate::kOption;
}

// Loaded as a whole: its parts are steps of the place, and not values that are extracted.
bool IsLoaded(const LowerContext& context, ExprId id) {
  return context.Get(id).Is(Expr::kPlace) && IsStored(context, id);
}

// Is the first operand lowered before anything else is done?
// Chains to the left (`a + b + c`, `a.b.c`) are as long as a source makes them, so they are
// walked by ValueOf's loop. Everything else recurses, as deep as brackets nest.
// `of_value`: it is what a part is taken of that has no storage, and so it has none.
bool Descends(const LowerContext& context, ExprId id, bool of_value) {
  const Expr& expr = context.Get(id);
  if (expr.rate == Rate::kOption || (!of_value && IsLoaded(context, id))) {
    return false;
  }
  switch (expr.kind) {
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kConvert:
    case ExprKind::kSplat:
    case ExprKind::kTruncate:
    case ExprKind::kFill:
    case ExprKind::kSwizzle:
    case ExprKind::kElements:
    case ExprKind::kMember:
    case ExprKind::kComma:
    case ExprKind::kLet:
      return true;
    case ExprKind::kIndex:
      // A constant that is indexed is looked at as a whole: see IndexConstant.
      return context.Get(ExprId{expr.a}).kind != ExprKind::kConstant;
    case ExprKind::kLogical:
    case ExprKind::kSelect:
    case ExprKind::kConditional:
      // What options choose between is chosen before anything is computed.
      return !IsOption(context, expr.a);
    default:
      return false;
  }
}

// A block of the IR whose last instruction yields what `make` gives.
template <class Make>
ir::BlockId BlockThatYields(LowerContext& context, Make make) {
  const ir::BlockId block = context.builder.BeginBlock();
  const ir::InstId value = make();
  context.Emit(ir::YieldInst{context.builder.Void(), value});
  context.builder.EndBlock();
  return block;
}

// One of two is closed, the other one is not looked at.
// Both sides are in the open module; a variant closes the one that its options choose.
template <class Then, class Otherwise>
ir::InstId ChooseValue(LowerContext& context, const Expr& expr, Then then, Otherwise otherwise) {
  ir::InstSpans spans;
  const ir::CexprId condition = CexprOf(context, ExprId{expr.a}, &spans.aux);
  const ir::BlockId first = BlockThatYields(context, then);
  const ir::BlockId second = BlockThatYields(context, otherwise);
  context.at = expr.at;
  spans.main = context.SpanOf(expr.at);
  return context.builder.Add(
      ir::ChooseInst{TypeOf(context, expr.type), condition, context.builder.Ids({first, second})},
      spans);
}

// A condition that options decide, in front of a value.
// spec/hlsl 8.3. In 2018 both sides happen if one of them has an effect.
ir::InstId ChosenValue(LowerContext& context, const Expr& expr) {
  const auto value = [&](uint32_t id) {
    return [&context, id] { return ValueOf(context, ExprId{id}); };
  };
  const auto flag = [&](uint32_t bits) {
    return [&context, bits] { return context.Repeated(ir::Scalar::kBool, 1, bits); };
  };
  if (expr.kind == ExprKind::kLogical) {
    return static_cast<Operator>(expr.op) == Operator::kLogicalAnd
               ? ChooseValue(context, expr, value(expr.b), flag(0))
               : ChooseValue(context, expr, flag(1), value(expr.b));
  }
  const bool effects = context.Get(ExprId{expr.b}).Is(Expr::kEffect) ||
                       context.Get(ExprId{expr.c}).Is(Expr::kEffect);
  if (expr.kind == ExprKind::kSelect && effects) {  // 2018: both happen
    const ir::InstId condition = ValueOf(context, ExprId{expr.a});
    const ir::InstId then = ValueOf(context, ExprId{expr.b});
    const ir::InstId otherwise = ValueOf(context, ExprId{expr.c});
    return SelectValue(context, expr, condition, then, otherwise);
  }
  return ChooseValue(context, expr, value(expr.b), value(expr.c));
}

// Only 2021 has these rows: the right side is a block.
ir::InstId Logical(LowerContext& context, const Expr& expr, ir::InstId left) {
  const ir::BlockId right =
      BlockThatYields(context, [&] { return ValueOf(context, ExprId{expr.b}); });
  context.at = expr.at;
  return context.Emit(ir::LogicalInst{TypeOf(context, expr.type),
                                      static_cast<Operator>(expr.op) == Operator::kLogicalAnd
                                          ? ir::LogicalOp::kAnd
                                          : ir::LogicalOp::kOr,
                                      left, right});
}

// A choice of calls that give nothing is a statement.
ir::InstId Conditional(LowerContext& context, const Expr& expr, ir::InstId condition) {
  const bool nothing = context.TypeRow(expr.type).kind == TypeKind::kVoid;
  const auto block = [&](uint32_t id) {
    const ir::BlockId made = context.builder.BeginBlock();
    const ir::InstId value = ValueOf(context, ExprId{id});
    if (!nothing) {
      context.Emit(ir::YieldInst{context.builder.Void(), value});
    }
    context.builder.EndBlock();
    return made;
  };
  const ir::BlockId then = block(expr.b);
  const ir::BlockId otherwise = block(expr.c);
  context.at = expr.at;
  const ir::ListId blocks = context.builder.Ids({then, otherwise});
  return nothing
             ? context.Emit(ir::IfInst{context.builder.Void(), condition, blocks})
             : context.Emit(ir::SelectBlocksInst{TypeOf(context, expr.type), condition, blocks});
}

// Item `index` of a value: a variable one wants storage.
// Extracting needs a constant: otherwise the value is stored and read.
ir::InstId IndexValue(LowerContext& context, const Expr& expr, ir::InstId base) {
  const Expr& index = context.Get(ExprId{expr.b});
  const ir::TypeId type = TypeOf(context, expr.type);
  const ir::TypeId whole = TypeOf(context, context.Get(ExprId{expr.a}).type);
  if (index.kind == ExprKind::kConstant) {
    return ExtractPart(context, base, type,
                       static_cast<uint32_t>(context.unit.ScalarsOf(index)[0].bits));
  }
  const ir::InstId number = ValueOf(context, ExprId{expr.b});
  context.at = expr.at;
  const ir::InstId storage = context.Emit(ir::TempInst{whole});
  context.Emit(ir::StoreInst{context.builder.Void(), storage, base});
  const ir::InstId place =
      context.Emit(ir::AccessInst{type, storage, context.builder.Ids({number})});
  return context.Emit(ir::LoadInst{type, place});
}

// Item of a constant: an array is read where it lies.
// No copy is made of the array at each use.
ir::InstId IndexConstant(LowerContext& context, const Expr& expr) {
  const Expr& base = context.Get(ExprId{expr.a});
  const bool array = context.TypeRow(base.type).kind == TypeKind::kArray;
  const ir::ConstId row = array ? ConstantRowOf(context, base) : ir::ConstId{};
  if (!row.valid()) {
    return IndexValue(context, expr, ConstantValue(context, base));
  }
  const ir::InstId number = ValueOf(context, ExprId{expr.b});
  context.at = expr.at;
  const ir::TypeId type = TypeOf(context, expr.type);
  const ir::InstId root = context.Emit(ir::ConstPlaceInst{TypeOf(context, base.type), row});
  const ir::InstId place = context.Emit(ir::AccessInst{type, root, context.builder.Ids({number})});
  return context.Emit(ir::LoadInst{type, place});
}

// Elements of a matrix, one by one; spec/hlsl 6.3: its rows are vectors.
ir::InstId ElementsValue(LowerContext& context, const Expr& expr, ir::InstId base) {
  const Type matrix = context.TypeRowOf(ExprId{expr.a});
  const ir::TypeId row = context.Vector(ScalarOf(matrix), matrix.columns);
  const ir::TypeId item = context.Vector(ScalarOf(matrix), 1);
  std::vector<ir::InstId> items;
  for (uint32_t i = 0; i < ElementCount(expr.b); ++i) {
    const ir::InstId line = ExtractPart(context, base, row, ElementRow(expr.b, i));
    items.push_back(ExtractPart(context, line, item, ElementColumn(expr.b, i)));
  }
  return items.size() == 1 ? items[0]
                           : context.Emit(ir::ConstructInst{TypeOf(context, expr.type),
                                                            context.builder.Ids(items)});
}

// An expression whose first operand is there.
// The rest of the operands is evaluated behind the first, from left to right.
ir::InstId Apply(LowerContext& context, const Expr& expr, ir::InstId first) {
  context.at = expr.at;
  const TypeId from = context.Get(ExprId{expr.a}).type;
  switch (expr.kind) {
    case ExprKind::kUnary:
      return UnaryValue(context, expr, first);
    case ExprKind::kBinary: {
      const ir::InstId right = ValueOf(context, ExprId{expr.b});
      context.at = expr.at;
      return BinaryValue(context, expr, first, right);
    }
    case ExprKind::kConvert:
      return ConvertValue(context, first, from, expr.type);
    case ExprKind::kSplat:
      return SplatValue(context, first, expr.type);
    case ExprKind::kTruncate:
      return TruncateValue(context, first, from, expr.type);
    case ExprKind::kFill:
      return FillValue(context, first, context.TypeRow(from).item, expr.type);
    case ExprKind::kSwizzle:
      return SwizzleValue(context, first, ScalarOf(context.TypeRow(from)),
                          CountOf(context.TypeRow(from)), expr.b);
    case ExprKind::kElements:
      return ElementsValue(context, expr, first);
    case ExprKind::kMember:
      return ExtractPart(context, first, TypeOf(context, expr.type), expr.b);
    case ExprKind::kIndex:
      return IndexValue(context, expr, first);
    case ExprKind::kLogical:
      return Logical(context, expr, first);
    case ExprKind::kSelect: {
      const ir::InstId then = ValueOf(context, ExprId{expr.b});
      const ir::InstId otherwise = ValueOf(context, ExprId{expr.c});
      context.at = expr.at;
      return SelectValue(context, expr, first, then, otherwise);
    }
    case ExprKind::kConditional:
      return Conditional(context, expr, first);
    // The left side was lowered for its effects.
    case ExprKind::kComma:
      return ValueOf(context, ExprId{expr.b});
    // Given values hold while the body is lowered; those of outer rows come back behind it.
    case ExprKind::kLet: {
      const ir::InstId second = expr.c == kNoRow ? ir::InstId{} : ValueOf(context, ExprId{expr.c});
      const GivenScope given(context, first, second);
      return ValueOf(context, ExprId{expr.b});
    }
    default:
      break;
  }
  KILN_UNREACHABLE();
}

// What options decide, a specialisation constant alone included, what is loaded, and what evaluates
// its operands itself.
ir::InstId Leaf(LowerContext& context, ExprId id) {
  const Expr& expr = context.Get(id);
  context.at = expr.at;
  if (expr.rate == Rate::kOption || expr.kind == ExprKind::kOption) {
    ir::InstSpans spans = context.Spans();
    const ir::CexprId value = CexprOf(context, id, &spans.aux);
    return context.builder.Add(ir::CexprInst{TypeOf(context, expr.type), value}, spans);
  }
  if (expr.kind != ExprKind::kAssign && expr.kind != ExprKind::kUpdate && IsLoaded(context, id)) {
    const Place place = PlaceOf(context, id);
    context.at = expr.at;
    return Load(context, place);
  }
  switch (expr.kind) {
    case ExprKind::kConstant:
      return ConstantValue(context, expr);
    case ExprKind::kLocal:
      // A parameter that has no storage.
      return context.Emit(ir::ParamInst{TypeOf(context, expr.type), context.parameters[expr.a]});
    case ExprKind::kBuild:
      return BuildValue(context, expr);
    case ExprKind::kAssign:
    case ExprKind::kUpdate:
      return Assign(context, expr).value;
    case ExprKind::kGiven:
      return context.given[expr.a];
    case ExprKind::kCall:
      return CallValue(context, expr);
    case ExprKind::kIntrinsic:
      return IntrinsicValue(context, expr);
    case ExprKind::kMethod:
      return MethodValue(context, expr);
    case ExprKind::kIndex:
      return IndexConstant(context, expr);
    case ExprKind::kLogical:
    case ExprKind::kSelect:
    case ExprKind::kConditional:
      return ChosenValue(context, expr);
    default:
      break;
  }
  KILN_CHECK(false, "expression of kind {}", static_cast<uint32_t>(expr.kind));
  KILN_UNREACHABLE();
}

}  // namespace

// Down to the innermost first operand, then out again. Whether a part is stored is seen at the root
// of its chain, so that is asked for the outermost part alone: a chain is walked twice at most.
ir::InstId ValueOf(LowerContext& context, ExprId id) {
  CheckStop();
  std::vector<ExprId> spine;
  bool of_value = false;
  while (Descends(context, id, of_value)) {
    spine.push_back(id);
    const Expr& expr = context.Get(id);
    of_value = IsPart(expr.kind) && expr.Is(Expr::kPlace);
    id = ExprId{expr.a};
  }
  ir::InstId value = Leaf(context, id);
  while (!spine.empty()) {
    value = Apply(context, context.Get(spine.back()), value);
    spine.pop_back();
  }
  return value;
}

}  // namespace kiln::hlsl
