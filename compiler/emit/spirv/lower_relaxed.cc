// SPDX-License-Identifier: MIT
// Reduced precision: what is loaded from relaxed variables is relaxed, and so is what is computed
// from nothing but relaxed values and constants. See spec/rpl 14.8
#include <algorithm>

#include "compiler/emit/spirv/lower_segment.h"
#include "compiler/ir/operands.h"

namespace kiln::spirv {

void SegmentLowering::MarkRelaxed(Ref id) {
  if (!id.own() || std::ranges::find(marked_relaxed_, id) != marked_relaxed_.end()) {
    return;
  }
  marked_relaxed_.push_back(id);
  writer_.Op(Part::kAnnotations, spv::Op::OpDecorate)
      .Use(id)
      .Word(spv::Decoration::RelaxedPrecision);
}

bool SegmentLowering::IsFloat(ir::TypeId type) const {
  const ir::Type& t = pool_[type];
  return (t.kind == ir::TypeKind::kVector || t.kind == ir::TypeKind::kMatrix) &&
         t.scalar == ir::Scalar::kF32;
}

bool SegmentLowering::IsRelaxedPlace(ir::InstId place) const {
  const ir::Inst& inst = InstOf(place);
  return relaxed_[inst.kind == ir::InstKind::kAccess ? inst.As<ir::AccessInst>().root.value
                                                     : place.value];
}

void SegmentLowering::FollowRelaxed(ir::InstId id, const ir::Inst& inst) {
  if (!IsFloat(inst.type) || inst.kind == ir::InstKind::kConst) {
    return;
  }
  bool relaxed = relaxed_[id.value];
  if (inst.kind == ir::InstKind::kLoad) {
    relaxed = IsRelaxedPlace(inst.As<ir::LoadInst>().place);
  } else if (inst.kind != ir::InstKind::kParam && inst.kind != ir::InstKind::kCall) {
    bool all = true;
    ir::ForEachInstOperand(
        inst, [this](ir::ListId list) { return segment_.List(list); },
        [&](uint32_t operand) {
          const ir::Inst& from = InstOf(ir::InstId{operand});
          if (IsFloat(from.type) && from.kind != ir::InstKind::kConst) {
            relaxed = relaxed || relaxed_[operand];
            all = all && relaxed_[operand];
          }
        });
    relaxed = relaxed && all;
  }
  relaxed_[id.value] = relaxed;
  if (relaxed && inst.kind != ir::InstKind::kParam) {  // parameters are marked with their names
    MarkRelaxed(values_[id.value]);
  }
}

}  // namespace kiln::spirv
