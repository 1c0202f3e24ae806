// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower/lower_relaxed.h"

#include <algorithm>

#include "compiler/ir/operands.h"

namespace kiln::spirv {
namespace {

bool IsFloat(RegionLowering& region, ir::TypeId type) {
  const ir::Type& t = region.pool()[type];
  return (t.kind == ir::TypeKind::kVector || t.kind == ir::TypeKind::kMatrix) &&
         t.scalar == ir::Scalar::kF32;
}

// A part of a place is relaxed if the variable is.
bool IsRelaxedPlace(RegionLowering& region, ir::InstId place) {
  const ir::Inst& inst = region.InstOf(place);
  return region.scratch()
      .relaxed[inst.kind == ir::InstKind::kAccess ? inst.As<ir::AccessInst>().root.value
                                                  : place.value];
}

}  // namespace

// An id is decorated once, however often its value is reached. Constants are shared between relaxed
// and exact code, so they are never marked.
void MarkRelaxed(RegionLowering& region, Ref id) {
  if (!id.own() || std::ranges::find(region.scratch().marked_relaxed, id) !=
                       region.scratch().marked_relaxed.end()) {
    return;
  }
  region.scratch().marked_relaxed.push_back(id);
  region.writer()
      .Op(Part::kAnnotations, spv::Op::OpDecorate)
      .Use(id)
      .Word(spv::Decoration::RelaxedPrecision);
}

// Decides whether the result of an instruction may have 16 bits: what is loaded follows its
// variable, what is computed follows its operands. One operand that needs all bits makes the result
// exact. Constants say nothing, so that a literal does not spoil a relaxed product.
void FollowRelaxed(RegionLowering& region, ir::InstId id, const ir::Inst& inst) {
  if (!IsFloat(region, inst.type) || inst.kind == ir::InstKind::kConst) {
    return;
  }
  // Of parameters and results of calls the flag is there already; both are said by the declaration.
  bool relaxed = region.scratch().relaxed[id.value];
  if (inst.kind == ir::InstKind::kLoad) {
    relaxed = IsRelaxedPlace(region, inst.As<ir::LoadInst>().place);
  } else if (inst.kind != ir::InstKind::kParam && inst.kind != ir::InstKind::kCall) {
    bool all = true;
    ir::ForEachInstOperand(
        inst, [&](ir::ListId list) { return region.source().List(list); },
        [&](uint32_t operand) {
          const ir::Inst& from = region.InstOf(ir::InstId{operand});
          if (IsFloat(region, from.type) && from.kind != ir::InstKind::kConst) {
            relaxed = relaxed || region.scratch().relaxed[operand];
            all = all && region.scratch().relaxed[operand];
          }
        });
    relaxed = relaxed && all;
  }
  region.scratch().relaxed[id.value] = relaxed;
  if (relaxed && inst.kind != ir::InstKind::kParam) {  // parameters are marked with their names
    MarkRelaxed(region, region.values()[id.value]);
  }
}

}  // namespace kiln::spirv
