// SPDX-License-Identifier: MIT
// First operands in each other are as deep as a source makes them (`a + b + c`, `a.b[c]`), so they
// are walked by a loop: down to the innermost, then out again. Other operands recurse, as deep as
// the parser allows brackets.
#include "compiler/front/wgsl/lower/value.h"

#include <optional>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/lower/call.h"
#include "compiler/front/wgsl/lower/cexpr.h"
#include "compiler/front/wgsl/lower/operation.h"
#include "compiler/front/wgsl/lower/type.h"

namespace kiln::wgsl::front {
namespace {

// The operand that is computed first and is a value; none of places and what has none.
// A place is no operand here: loads evaluate it with its steps.
std::optional<ExprId> FirstOperand(const LowerContext& context, const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kLogical:
    case ExprKind::kConvert:
    case ExprKind::kSplat:
    case ExprKind::kSwizzle:
    case ExprKind::kMember:
    case ExprKind::kIndex:
      return ExprId{expr.a};
    // Functions of memory and textures evaluate their arguments themselves, since some are
    // places.
    case ExprKind::kOperation: {
      const std::span<const uint32_t> list = context.unit.List(ListId{expr.b});
      return static_cast<Function>(expr.op) < Function::kArrayLength && !list.empty()
                 ? std::optional(ExprId{list[0]})
                 : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// A part of a value. A known index is extracted.
ir::InstId Index(LowerContext& context, const Expr& expr, ir::InstId whole) {
  const ir::TypeId type = TypeOf(context, expr.type);
  const Expr& index = context.Get(ExprId{expr.b});
  if (index.kind == ExprKind::kConstant) {
    return context.Emit(
        ir::ExtractInst{type, whole, static_cast<uint32_t>(context.unit.WordsOf(index)[0])});
  }
  // Values have no steps: what is indexed by a value lies in memory for it.
  const Expr& of = context.Get(ExprId{expr.a});
  const ir::TypeId whole_type = TypeOf(context, of.type);
  const ir::InstId step = IndexStep(context, ExprId{expr.b});
  context.at = expr.at;
  const ir::InstId temp = context.Emit(ir::TempInst{whole_type});
  context.Emit(ir::StoreInst{context.builder.Void(), temp, whole});
  return context.Emit(
      ir::LoadInst{type, context.Emit(ir::AccessInst{type, temp, context.builder.Ids({step})},
                                      ir::InstFlag::kBounded)});
}

// A constant array that is indexed by a value is not copied: it is memory of its own.
// Copying the whole array for one item would cost as much as the array at each use.
std::optional<ir::InstId> IndexConstant(LowerContext& context, const Expr& expr) {
  const Expr& of = context.Get(ExprId{expr.a});
  const bool computed =
      expr.kind == ExprKind::kIndex && context.Get(ExprId{expr.b}).kind != ExprKind::kConstant;
  if (!computed || of.kind != ExprKind::kConstant ||
      context.types[of.type].kind != TypeKind::kArray) {
    return std::nullopt;
  }
  const ir::ConstId row = ConstantRow(context, of);
  if (!row.valid()) {
    return std::nullopt;
  }
  const ir::TypeId type = TypeOf(context, expr.type);
  const ir::InstId step = IndexStep(context, ExprId{expr.b});
  context.at = expr.at;
  const ir::InstId root = context.Emit(ir::ConstPlaceInst{TypeOf(context, of.type), row});
  return context.Emit(
      ir::LoadInst{type, context.Emit(ir::AccessInst{type, root, context.builder.Ids({step})},
                                      ir::InstFlag::kBounded)});
}

// Compile-time values have at most 32 bits, so a half is converted from one.
ir::InstId OverrideValue(LowerContext& context, const Expr& expr, ExprId id) {
  const ScalarKind scalar = context.types[expr.type].scalar;
  if (scalar == ScalarKind::kF16) {
    const ir::InstId wide =
        context.Emit(ir::CexprInst{context.Vector(ir::Scalar::kF32, 1), CexprOf(context, id)});
    return context.Emit(ir::ConvertInst{TypeOf(context, expr.type), wide});
  }
  return context.Emit(ir::CexprInst{TypeOf(context, expr.type), CexprOf(context, id)});
}

// One part of the same type is the whole: a constructor that only repeats its argument.
ir::InstId Construct(LowerContext& context, const Expr& expr) {
  std::vector<ir::InstId> parts;
  for (const uint32_t part : context.unit.List(ListId{expr.b})) {
    parts.push_back(ValueOf(context, ExprId{part}));
  }
  context.at = expr.at;
  const ir::TypeId type = TypeOf(context, expr.type);
  return parts.size() == 1 && context.TypeRowOf(ExprId{context.unit.List(ListId{expr.b})[0]}) ==
                                  context.types[expr.type]
             ? parts[0]
             : context.Emit(ir::ConstructInst{type, context.builder.Ids(parts)});
}

// An expression without a first operand.
ir::InstId Leaf(LowerContext& context, ExprId id) {
  const Expr expr = context.Get(id);
  context.at = expr.at;
  switch (expr.kind) {
    case ExprKind::kConstant:
      return ConstantValue(context, expr);
    case ExprKind::kOverride:
      return OverrideValue(context, expr, id);
    // A `let` that a loop needed behind its body is a variable; any other is its value.
    case ExprKind::kLocal:
      if (context.unit.locals[expr.a].kind == LocalKind::kLet) {
        return context.locals[expr.a].valid()
                   ? Load(context, {.root = context.Emit(ir::LocalRefInst{
                                        TypeOf(context, expr.type), context.locals[expr.a]}),
                                    .steps = {},
                                    .type = expr.type})
                   : context.values[expr.a];
      }
      // Textures and samplers stand for what the caller has.
      return context.types[expr.type].kind >= TypeKind::kTexture
                 ? context.Emit(
                       ir::LocalRefInst{TypeOf(context, expr.type), context.locals[expr.a]})
                 : context.Emit(ir::ParamInst{TypeOf(context, expr.type), context.locals[expr.a]});
    case ExprKind::kGlobal:
      return context.Emit(ir::GlobalRefInst{TypeOf(context, expr.type), ir::Direction::kNone,
                                            context.globals[expr.a], ir::MemberId{}});
    case ExprKind::kLoad: {
      const Place place = PlaceOf(context, ExprId{expr.a});
      context.at = expr.at;
      return Load(context, place);
    }
    case ExprKind::kCall:
      return CallFunction(context, expr);
    case ExprKind::kOperation:
      return Operation(context, expr, {});
    case ExprKind::kConstruct:
      return Construct(context, expr);
    default:
      break;
  }
  KILN_UNREACHABLE();
}

// What is made of the value of its first operand.
// The operand that FirstOperand named is there; others are evaluated now, behind it, from left
// to right.
ir::InstId Around(LowerContext& context, const Expr& expr, ir::InstId first) {
  const ir::TypeId type = TypeOf(context, expr.type);
  context.at = expr.at;
  switch (expr.kind) {
    // The right side is a block, which only runs if it is needed.
    case ExprKind::kLogical: {
      const ir::BlockId block = context.Block([&] {
        const ir::InstId right = ValueOf(context, ExprId{expr.b});
        context.Emit(ir::YieldInst{context.builder.Void(), right});
      });
      context.at = expr.at;
      return context.Emit(ir::LogicalInst{
          type, expr.op == 1 ? ir::LogicalOp::kOr : ir::LogicalOp::kAnd, first, block});
    }
    case ExprKind::kConvert:
      return Convert(context, expr, first);
    case ExprKind::kSplat:
      return context.Emit(ir::SplatInst{type, first});
    case ExprKind::kSwizzle:
      return context.Emit(ir::SwizzleInst{type, first, expr.b});
    case ExprKind::kMember:
      return context.Emit(ir::ExtractInst{type, first, expr.b});
    case ExprKind::kIndex:
      return Index(context, expr, first);
    default:
      return Operation(context, expr, first);
  }
}

}  // namespace

// Values are evaluated where they are asked for, each once: rows of an expression form a tree.
ir::InstId ValueOf(LowerContext& context, ExprId id) {
  CheckStop();
  std::vector<ExprId> around;  // outermost first
  std::optional<ir::InstId> value;
  while (!value.has_value()) {
    const Expr& expr = context.Get(id);
    const std::optional<ExprId> first = FirstOperand(context, expr);
    if (!first.has_value()) {
      value = Leaf(context, id);
    } else if (value = IndexConstant(context, expr); !value.has_value()) {
      around.push_back(id);
      id = *first;
    }
  }
  for (; !around.empty(); around.pop_back()) {
    value = Around(context, context.Get(around.back()), *value);
  }
  return *value;
}

namespace {

// A parameter that is a pointer is a place like a variable. A buffer that was wrapped has its
// field as first step.
Place RootPlace(LowerContext& context, const Expr& root) {
  Place place{.root = {}, .steps = {}, .type = root.type};
  if (root.kind == ExprKind::kLocal) {
    place.root = context.Emit(ir::LocalRefInst{TypeOf(context, root.type), context.locals[root.a]});
    place.is_local = true;
    return place;
  }
  const ir::DeclId decl = context.globals[root.a];
  const bool wrapped = context.is_wrapped[root.a];
  const ir::TypeId type =
      wrapped ? context.builder.Intern({.kind = ir::TypeKind::kDeclared, .element = decl.value})
              : TypeOf(context, root.type);
  place.root = context.Emit(ir::GlobalRefInst{type, ir::Direction::kNone, decl, ir::MemberId{}});
  if (wrapped) {
    place.steps.push_back(context.Uint(0));
  }
  // The block of a buffer has no value of its type, so loads and stores of it go member by
  // member.
  place.is_block = !wrapped && context.unit.globals[root.a].kind == GlobalKind::kBuffer;
  return place;
}

// A computed index as a step. One of a pointer that a continuing block mentions is kept in a
// variable where the pointer is declared, and read from there behind the body.
ir::InstId ComputedStep(LowerContext& context, ExprId index) {
  const ir::LocalId* kept = context.kept_steps.Find(index.value);
  if (kept == nullptr) {
    return IndexStep(context, index);
  }
  const ir::TypeId type = context.Vector(ir::Scalar::kU32, 1);
  const ir::LocalId variable = *kept;
  if (context.reads_steps) {
    return context.Emit(ir::LoadInst{type, context.Emit(ir::LocalRefInst{type, variable})});
  }
  const ir::InstId step = IndexStep(context, index);
  context.Emit(
      ir::StoreInst{context.builder.Void(), context.Emit(ir::LocalRefInst{type, variable}), step});
  return step;
}

}  // namespace

// Along the pointer to its variable, or to the `let` that it is made of.
void KeepSteps(LowerContext& context, ExprId pointer) {
  const ir::TypeId type = context.Vector(ir::Scalar::kU32, 1);
  ExprId id = pointer;
  while (true) {
    const Expr& expr = context.Get(id);
    const bool is_index = expr.kind == ExprKind::kIndex;
    if (!is_index && expr.kind != ExprKind::kMember && expr.kind != ExprKind::kDeref &&
        expr.kind != ExprKind::kAddress) {
      return;
    }
    if (is_index && context.Get(ExprId{expr.b}).kind != ExprKind::kConstant) {
      const ir::LocalId variable = context.builder.AddLocal(
          {.name = context.builder.Text("step"), .type = type}, {.name = context.SpanOf(expr.at)});
      context.Emit(ir::VariableInst{context.builder.Void(), variable, ir::InstId{}});
      context.kept_steps.Insert(expr.b, variable);
    }
    id = ExprId{expr.a};
  }
}

// Steps are collected from the outside and evaluated from the root on, so indices are computed
// in the order of the source.
Place PlaceOf(LowerContext& context, ExprId id) {
  std::vector<ExprId> parts;  // outermost first
  while (context.Get(id).kind == ExprKind::kMember || context.Get(id).kind == ExprKind::kIndex) {
    parts.push_back(id);
    id = ExprId{context.Get(id).a};
  }
  context.at = context.Get(id).at;
  Place place = context.Get(id).kind == ExprKind::kDeref
                    ? PointedBy(context, ExprId{context.Get(id).a})
                    : RootPlace(context, context.Get(id));
  for (; !parts.empty(); parts.pop_back()) {
    const Expr& part = context.Get(parts.back());
    if (part.kind == ExprKind::kMember) {
      context.at = part.at;
      place.steps.push_back(context.Uint(part.b));
      // Known indices were checked to be in range; only computed ones need a bound.
    } else if (const Expr& index = context.Get(ExprId{part.b}); index.kind == ExprKind::kConstant) {
      context.at = part.at;
      place.steps.push_back(context.Uint(static_cast<uint32_t>(context.unit.WordsOf(index)[0])));
    } else {
      place.steps.push_back(ComputedStep(context, ExprId{part.b}));
      place.bounded = true;
    }
    place.type = part.type;
  }
  return place;
}

// `&&*&a` are as many as brackets may be; `let` ends the chain.
Place PointedBy(LowerContext& context, ExprId id) {
  const Expr& expr = context.Get(id);
  if (expr.kind == ExprKind::kAddress) {
    return PlaceOf(context, ExprId{expr.a});
  }
  KILN_CHECK(expr.kind == ExprKind::kLocal, "a pointer is an address or a name");
  if (context.unit.locals[expr.a].kind == LocalKind::kLet) {
    return context.pointers[expr.a];
  }
  return {
      .root = context.Emit(ir::LocalRefInst{TypeOf(context, expr.type), context.locals[expr.a]}),
      .steps = {},
      .type = TypeId{context.types[expr.type].element},
      .is_local = true};
}

// A root alone is a place already.
ir::InstId PlaceInst(LowerContext& context, const Place& place) {
  if (place.steps.empty()) {
    return place.root;
  }
  const ir::AccessInst access{TypeOf(context, place.type), place.root,
                              context.builder.Ids(place.steps)};
  return place.bounded ? context.Emit(access, ir::InstFlag::kBounded) : context.Emit(access);
}

namespace {

Place MemberOf(LowerContext& context, const Place& block, uint32_t member) {
  Place part = block;
  part.steps.push_back(context.Uint(member));
  part.type = context.types.StructOf(block.type).members[member].type;
  return part;
}

}  // namespace

// A block has no values of its own type: it is read and written member by member.
// Recursion: a block is a struct whose members are no blocks, so it goes one level.
ir::InstId Load(LowerContext& context, const Place& place) {
  const ir::TypeId type = TypeOf(context, place.type);
  if (!place.is_block || !place.steps.empty()) {
    return context.Emit(ir::LoadInst{type, PlaceInst(context, place)});
  }
  std::vector<ir::InstId> parts;
  const auto count = static_cast<uint32_t>(context.types.StructOf(place.type).members.size());
  for (uint32_t i = 0; i < count; ++i) {
    parts.push_back(Load(context, MemberOf(context, place, i)));
  }
  return context.Emit(ir::ConstructInst{type, context.builder.Ids(parts)});
}

void Store(LowerContext& context, const Place& place, ir::InstId value) {
  const ir::TypeId none = context.builder.Void();
  if (!place.is_block || !place.steps.empty()) {
    context.Emit(ir::StoreInst{none, PlaceInst(context, place), value});
    return;
  }
  const auto count = static_cast<uint32_t>(context.types.StructOf(place.type).members.size());
  for (uint32_t i = 0; i < count; ++i) {
    const Place part = MemberOf(context, place, i);
    const ir::InstId item = context.Emit(ir::ExtractInst{TypeOf(context, part.type), value, i});
    context.Emit(ir::StoreInst{none, PlaceInst(context, part), item});
  }
}

}  // namespace kiln::wgsl::front
