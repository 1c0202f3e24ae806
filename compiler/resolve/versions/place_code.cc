// SPDX-License-Identifier: MIT
#include "compiler/resolve/versions/place_code.h"

#include <algorithm>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/typing/typing.h"
#include "compiler/resolve/typed_types.h"

namespace kiln::resolve {

// By number of the local. Empty for functions that take no places.
FlatMap<uint32_t, PlaceRoot> PlacesOf(const RegionBuilder& region) {
  FlatMap<uint32_t, PlaceRoot> places;
  const auto is_place = [](const ir::Member& member) {
    return member.access == ir::Access::kPlace;
  };
  // Most functions have none, and those have no version to ask for.
  if (std::ranges::none_of(region.module().MembersOf(region.function()), is_place)) {
    return places;
  }
  const ir::DeclId version = region.answers().version();
  KILN_CHECK(version.valid(), "a function with place parameters is called by its versions");
  const std::vector<PlaceRoot> roots = RootsOf(region.pool().versions().WordsOf(version));
  // Roots lie in the order of the place parameters, as AddRoot was called for them.
  size_t next = 0;
  for (const ir::SpecialisedMember& parameter : region.signature()->members) {
    if (parameter.access == ir::Access::kPlace) {
      KILN_CHECK(next < roots.size(), "a version of fewer places");
      places.Insert(parameter.local.value, roots[next++]);
    }
  }
  return places;
}

// Whether what is given may stand for a parameter: equal types, arrays of equal lengths, and
// images that differ in their format or in being known to hold depths.
bool StandsFor(const ir::Pool& pool, ir::TypeId given, ir::TypeId parameter) {
  while (pool[given].kind == ir::TypeKind::kArray && pool[parameter].kind == ir::TypeKind::kArray &&
         pool[given].extent == pool[parameter].extent) {
    given = ir::TypeId{pool[given].element};
    parameter = ir::TypeId{pool[parameter].element};
  }
  const ir::Type& a = pool[given];
  const ir::Type& b = pool[parameter];
  if (given == parameter || a.kind != ir::TypeKind::kImage || b.kind != ir::TypeKind::kImage) {
    return given == parameter;
  }
  const ir::ImageTraits x = ir::UnpackImage(a.extent);
  const ir::ImageTraits y = ir::UnpackImage(b.extent);
  return a.scalar == b.scalar && x.dim == y.dim && x.arrayed == y.arrayed &&
         x.storage == y.storage && x.multisampled == y.multisampled;
}

// Walks the steps through the type. Invalid where a step leads nowhere.
ir::TypeId PlaceType(const RegionBuilder& region, ir::InstId root,
                     std::span<const uint32_t> steps) {
  const ir::Pool& pool = region.pool();
  ir::TypeId type = region.TypeOf(root);
  for (const uint32_t step : steps) {
    const ir::Inst& inst = region.out().insts[step];
    const uint32_t index =
        // Items of an array are all of one type, so any index will do for one that is not
        // constant.
        inst.kind == ir::InstKind::kConst ? pool[inst.As<ir::ConstInst>().value].a : 0;
    const std::optional<ir::TypeId> part = ir::PartType(pool, type, index);
    if (!part.has_value()) {
      return {};
    }
    type = *part;
  }
  return type;
}

// The place is computed anew at each use, from constants alone.
// A declaration that failed makes the region fail, in silence: its error was said.
ir::InstId EmitPlace(RegionBuilder& region, const PlaceRoot& root, ir::TypeId type) {
  const ir::SpecialisedDecl* decl = region.answers().Decl(root.decl);
  if (decl == nullptr) {
    region.FailIf(true);
    return {};
  }
  const ir::InstId whole =
      region.Emit(ir::GlobalRefInst{.type = decl->type, .decl = root.decl}.To());
  if (root.steps.empty()) {
    return whole;
  }
  std::vector<uint32_t> steps;
  for (const uint32_t step : root.steps) {
    steps.push_back(region.EmitUint(step).value);
  }
  // An item of an array of images has the type of the declaration, not that of the parameter.
  const bool image = region.pool()[type].kind == ir::TypeKind::kImage;
  return region.Emit(ir::AccessInst{.type = image ? PlaceType(region, whole, steps) : type,
                                    .root = whole,
                                    .steps = region.EmitList(steps)}
                         .To());
}

// The place has to be known when the function is specialised, because each place makes a version of
// the function.
std::optional<PlaceRoot> RootOf(RegionBuilder& region, ir::InstId place) {
  const std::vector<ir::Inst>& insts = region.out().insts;
  PlaceRoot root;
  ir::Inst inst = insts[place.value];
  if (inst.kind == ir::InstKind::kAccess) {
    for (const uint32_t step : region.out().List(inst.As<ir::AccessInst>().steps)) {
      // An index that is computed differs from call to call, and then no version could stand for
      // it.
      if (insts[step].kind != ir::InstKind::kConst) {
        ReportIllTyped(region, "a place parameter takes constant indices alone");
        return std::nullopt;
      }
      root.steps.push_back(region.pool()[insts[step].As<ir::ConstInst>().value].a);
    }
    inst = insts[inst.As<ir::AccessInst>().root.value];
  }
  if (inst.kind != ir::InstKind::kGlobalRef || inst.As<ir::GlobalRefInst>().member.valid()) {
    ReportIllTyped(region, "a place parameter takes what lies outside of functions");
    return std::nullopt;
  }
  root.decl = inst.As<ir::GlobalRefInst>().decl;
  return root;
}

}  // namespace kiln::resolve
