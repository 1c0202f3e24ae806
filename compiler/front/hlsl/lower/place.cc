// SPDX-License-Identifier: MIT
// Swizzles of swizzles are one list of letters. A store to some components is a store to each: the
// others may belong to another invocation, so the whole is never written back.
#include "compiler/front/hlsl/lower/place.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/front/hlsl/lower/assign.h"
#include "compiler/front/hlsl/lower/handle.h"
#include "compiler/front/hlsl/lower/image.h"
#include "compiler/front/hlsl/lower/shape.h"
#include "compiler/front/hlsl/lower/type.h"
#include "compiler/front/hlsl/lower/value.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

// Buffers of items are one array, member 0 of the block.
bool HoldsItems(const LowerContext& context, TypeId type) {
  const Type& row = context.TypeRow(type);
  if (row.kind != TypeKind::kObject) {
    return false;
  }
  const ObjectShape shape = FactsOf(row.object).shape;
  return shape == ObjectShape::kStructured || shape == ObjectShape::kBytes;
}

// The type under which a declaration is named, which is that of its block where it has one.
ir::TypeId RootTypeOf(LowerContext& context, const Global& global, ir::DeclId decl) {
  const bool items = HoldsItems(context, global.type);
  if (global.kind == GlobalKind::kLoose || items) {
    return context.builder.Intern({.kind = ir::TypeKind::kDeclared, .element = decl.value});
  }
  if (ObjectOf(context, global.type) == nullptr) {
    return TypeOf(context, global.type);
  }
  const Type& row = context.TypeRow(global.type);
  const bool array = row.kind == TypeKind::kArray;
  if (array && HoldsItems(context, context.unit.types.ElementOf(global.type))) {
    const ir::TypeId block = context.builder.Intern(
        {.kind = ir::TypeKind::kDeclared, .element = context.item_blocks.Find(decl.value)->value});
    return context.builder.Array(block, ExtentOf(context, row));
  }
  return HandleTypeOf(context, global.type, WordsOf(context, global));
}

// The variable itself: a local, a parameter that is storage, a global. A loose one is a member
// of $Globals.
Place RootPlace(LowerContext& context, const Expr& root) {
  Place place{.type = root.type};
  if (root.kind == ExprKind::kLocal) {
    const Local& local = context.unit.locals[root.a];
    place.root_type = ObjectOf(context, local.type) != nullptr
                          ? HandleTypeOf(context, local.type, WordsOf(local))
                          : TypeOf(context, root.type);
    place.root = context.Emit(ir::LocalRefInst{place.root_type, context.locals[root.a]});
    return place;
  }
  if (root.kind != ExprKind::kGlobal) {
    KILN_CHECK(false, "no storage");
  }
  const Global& global = context.unit.globals[root.a];
  const ir::DeclId decl = context.globals[root.a];
  place.root_type = RootTypeOf(context, global, decl);
  place.root =
      context.Emit(ir::GlobalRefInst{place.root_type, ir::Direction::kNone, decl, ir::MemberId{}});
  if (global.kind == GlobalKind::kLoose) {
    place.steps.push_back(context.Uint(context.global_member[root.a]));
  } else if (HoldsItems(context, global.type)) {
    place.steps.push_back(context.Uint(0));
  }
  return place;
}

// Letters of letters: `v.zyx.x` is component z of v.
void AddSwizzle(Place& place, uint32_t packed) {
  std::vector<uint8_t> made;
  for (uint32_t i = 0; i < ir::SwizzleCount(packed); ++i) {
    const auto letter = static_cast<uint8_t>(ir::SwizzleLetter(packed, i));
    if (!place.elements.empty()) {
      made.push_back(place.elements[letter]);
    } else {
      made.push_back(place.letters.empty() ? letter : place.letters[letter]);
    }
  }
  (place.elements.empty() ? place.letters : place.elements) = std::move(made);
}

// One step further in. Behind a swizzle there are only letters, which constants pick from; that
// was checked.
void AddStep(LowerContext& context, Place& place, const Expr& part) {
  switch (part.kind) {
    case ExprKind::kSwizzle:
      return AddSwizzle(place, part.b);
    case ExprKind::kElements:
      for (uint32_t i = 0; i < ElementCount(part.b); ++i) {
        place.elements.push_back(
            static_cast<uint8_t>(ElementRow(part.b, i) << 2 | ElementColumn(part.b, i)));
      }
      return;
    case ExprKind::kMember:
      place.steps.push_back(context.Uint(part.b));
      place.type = part.type;
      return;
    default:
      break;
  }
  const Expr& index = context.Get(ExprId{part.b});
  if (place.whole() && !place.is_texel()) {
    place.steps.push_back(ValueOf(context, ExprId{part.b}));
    place.type = part.type;
    place.non_uniform = place.non_uniform || part.op == 1;
    if (HoldsItems(context, part.type)) {  // one of an array of buffers
      place.steps.push_back(context.Uint(0));
    }
    return;
  }
  // A variable index of a swizzle was refused as a place, so it is a value.
  KILN_CHECK(index.kind == ExprKind::kConstant, "a swizzle has no places by number");
  const auto number = static_cast<size_t>(context.unit.ScalarsOf(index)[0].bits);
  std::vector<uint8_t>& list = place.elements.empty() ? place.letters : place.elements;
  list = {list.empty() ? static_cast<uint8_t>(number) : list[number]};
}

// A scalar has letters as well, which all mean the scalar itself.
bool IsScalarPlace(const LowerContext& context, const Place& place) {
  const Type& type = context.TypeRow(place.type);
  return type.kind == TypeKind::kEnum || ValueForm(type) == Form::kScalar;
}

// Requires: the place is of numbers.
ir::TypeId ItemType(LowerContext& context, const Place& place) {
  return context.Vector(ScalarOf(context.TypeRow(place.type)), 1);
}

// `non_uniform` holds for the whole way, whichever step it came from.
ir::InstId Access(LowerContext& context, const Place& place, ir::TypeId type,
                  const std::vector<ir::InstId>& steps) {
  ir::Inst made = ir::AccessInst{type, place.root, context.builder.Ids(steps)}.To();
  made.flags |= place.non_uniform ? ir::BitOf(ir::InstFlag::kNonUniform) : uint16_t{0};
  return context.Emit(made);
}

// Component i of the letters or elements of the place.
// The way to one component of what is meant.
ir::InstId Component(LowerContext& context, const Place& place, size_t i) {
  std::vector<ir::InstId> steps = place.steps;
  if (!place.elements.empty()) {
    steps.push_back(context.Uint(place.elements[i] >> 2));
    steps.push_back(context.Uint(place.elements[i] & 3u));
  } else if (!IsScalarPlace(context, place)) {
    steps.push_back(context.Uint(place.letters[i]));
  }
  if (steps.empty()) {
    return place.root;
  }
  return Access(context, place, ItemType(context, place), steps);
}

// What stands before the last comma, in order. Commas bind to the left, so a long list is deep on
// that side: the lists in it are put on a stack, whether they are places or not.
void DropOperands(LowerContext& context, ExprId id) {
  std::vector<ExprId> operands;  // last first
  while (context.Get(id).kind == ExprKind::kComma) {
    operands.push_back(ExprId{context.Get(id).b});
    id = ExprId{context.Get(id).a};
  }
  ValueOf(context, id);
  for (; !operands.empty(); operands.pop_back()) {
    ValueOf(context, operands.back());
  }
}

}  // namespace

bool IsPart(ExprKind kind) {
  return kind == ExprKind::kSwizzle || kind == ExprKind::kElements || kind == ExprKind::kMember ||
         kind == ExprKind::kIndex;
}

// Along the place to its root. A parameter that nobody writes has no storage: it is a value.
bool IsStored(const LowerContext& context, ExprId id) {
  while (true) {
    const Expr& expr = context.Get(id);
    if (IsPart(expr.kind)) {
      id = ExprId{expr.a};
    } else if (expr.kind == ExprKind::kComma) {
      id = ExprId{expr.b};
    } else if (expr.kind == ExprKind::kLocal) {
      return context.locals[expr.a].valid();
    } else {
      return expr.kind == ExprKind::kGlobal || expr.kind == ExprKind::kAssign ||
             (expr.kind == ExprKind::kMethod && expr.Is(Expr::kPlace)) ||
             (expr.kind == ExprKind::kUpdate && expr.op == 0);
    }
  }
}

std::optional<uint32_t> RootLocal(const LowerContext& context, ExprId id) {
  while (true) {
    const Expr& expr = context.Get(id);
    if (IsPart(expr.kind) || expr.kind == ExprKind::kAssign || expr.kind == ExprKind::kUpdate) {
      id = ExprId{expr.a};
    } else if (expr.kind == ExprKind::kComma) {
      id = ExprId{expr.b};
    } else {
      return expr.kind == ExprKind::kLocal ? std::optional(expr.a) : std::nullopt;
    }
  }
}

// Parts are collected from the outside in and applied from the root out. Cost: each step once.
// Indices are evaluated in the order of the source.
Place PlaceOf(LowerContext& context, ExprId id) {
  std::vector<ExprId> parts;  // outermost first
  while (IsPart(context.Get(id).kind)) {
    parts.push_back(id);
    id = ExprId{context.Get(id).a};
  }
  const Expr& root = context.Get(id);
  Place place;
  if (root.kind == ExprKind::kComma) {
    DropOperands(context, ExprId{root.a});
    place = PlaceOf(context, ExprId{root.b});
  } else if (root.kind == ExprKind::kAssign || root.kind == ExprKind::kUpdate) {
    place = Assign(context, root).place;
  } else if (root.kind == ExprKind::kMethod) {
    const TexelPlace texel = TexelOf(context, root);
    place = {.root = texel.image, .texel = texel.at, .type = texel.type};
  } else {
    place = RootPlace(context, root);
  }
  while (!parts.empty()) {
    AddStep(context, place, context.Get(parts.back()));
    parts.pop_back();
  }
  return place;
}

// A part of the storage, not some of its components.
ir::InstId PlaceInst(LowerContext& context, const Place& place) {
  KILN_CHECK(place.whole());
  if (place.steps.empty()) {
    return place.root;
  }
  return Access(context, place, TypeOf(context, place.type), place.steps);
}

// A buffer as an argument.
ir::InstId BufferInst(LowerContext& context, ExprId id) {
  const Place place = PlaceOf(context, id);
  const ir::TypeId type = HandleTypeOf(context, context.Get(id).type, {});
  return place.steps.empty() ? place.root : Access(context, place, type, place.steps);
}

namespace {

// Which components of a texel are meant; its components are numbered by constants.
// A texel is written whole, so a part of it needs the letters of all.
std::vector<uint8_t> LettersOf(LowerContext& context, const Place& place) {
  if (!place.letters.empty() || IsScalarPlace(context, place)) {
    return place.letters;
  }
  std::vector<uint8_t> all(CountOf(context.TypeRow(place.type)));
  for (uint8_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  return all;
}

// A texel is read whole; its letters are taken of the value.
ir::InstId LoadTexel(LowerContext& context, const Place& place) {
  const ir::InstId value = ReadTexel(context, {place.root, place.texel, place.type});
  if (place.whole()) {
    return value;
  }
  uint8_t letters[4] = {};
  std::copy(place.letters.begin(), place.letters.end(), letters);
  const Type& type = context.TypeRow(place.type);
  return SwizzleValue(context, value, ScalarOf(type), CountOf(type),
                      ir::PackSwizzle(static_cast<uint32_t>(place.letters.size()), letters));
}

// Some components of a texel: it is read, changed and written.
// spec/hlsl 11: one component of a texel is read, changed, written.
void StoreTexel(LowerContext& context, const Place& place, ir::InstId value) {
  const TexelPlace texel{place.root, place.texel, place.type};
  const Type& type = context.TypeRow(place.type);
  if (place.whole() || CountOf(type) == 1) {
    return WriteTexel(context, texel, value);
  }
  const std::vector<uint8_t> letters = LettersOf(context, place);
  ir::InstId whole = ReadTexel(context, texel);
  for (size_t i = 0; i < letters.size(); ++i) {
    const ir::InstId item = letters.size() == 1
                                ? value
                                : context.Emit(ir::ExtractInst{ItemType(context, place), value,
                                                               static_cast<uint32_t>(i)});
    const uint32_t part[] = {item.value, letters[i]};
    whole = context.Emit(
        ir::InsertInst{TypeOf(context, place.type), whole, context.builder.NewList(part)});
  }
  WriteTexel(context, texel, whole);
}

}  // namespace

// Letters of a vector: one load and a swizzle. Elements of a matrix lie in several vectors: a
// load for each.
ir::InstId Load(LowerContext& context, const Place& place) {
  if (place.is_texel()) {
    return LoadTexel(context, place);
  }
  if (place.whole()) {
    return context.Emit(ir::LoadInst{TypeOf(context, place.type), PlaceInst(context, place)});
  }
  const ir::TypeId item = ItemType(context, place);
  const size_t count = place.elements.empty() ? place.letters.size() : place.elements.size();
  const ir::Scalar scalar = ScalarOf(context.TypeRow(place.type));
  if (place.elements.empty() && count > 1 && !IsScalarPlace(context, place)) {
    Place vector = place;
    vector.letters.clear();
    uint8_t letters[4] = {};
    std::copy(place.letters.begin(), place.letters.end(), letters);
    return context.Emit(ir::SwizzleInst{context.Vector(scalar, static_cast<uint32_t>(count)),
                                        Load(context, vector),
                                        ir::PackSwizzle(static_cast<uint32_t>(count), letters)});
  }
  std::vector<ir::InstId> items;
  for (size_t i = 0; i < count; ++i) {
    items.push_back(context.Emit(ir::LoadInst{item, Component(context, place, i)}));
  }
  return items.size() == 1
             ? items[0]
             : context.Emit(ir::ConstructInst{context.Vector(scalar, static_cast<uint32_t>(count)),
                                              context.builder.Ids(items)});
}

// Components are stored one by one, and never the vector: see the top.
void Store(LowerContext& context, const Place& place, ir::InstId value) {
  if (place.is_texel()) {
    return StoreTexel(context, place, value);
  }
  const ir::TypeId none = context.builder.Void();
  if (place.whole()) {
    context.Emit(ir::StoreInst{none, PlaceInst(context, place), value});
    return;
  }
  const size_t count = place.elements.empty() ? place.letters.size() : place.elements.size();
  for (size_t i = 0; i < count; ++i) {
    const ir::InstId item = count == 1
                                ? value
                                : context.Emit(ir::ExtractInst{ItemType(context, place), value,
                                                               static_cast<uint32_t>(i)});
    context.Emit(ir::StoreInst{none, Component(context, place, i), item});
  }
}

}  // namespace kiln::hlsl
