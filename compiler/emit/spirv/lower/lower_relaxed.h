// SPDX-License-Identifier: MIT
// Reduced precision: what is loaded from relaxed variables is relaxed, and so is what is computed
// from nothing but relaxed values and constants. See spec/rpl 14.8
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

void MarkRelaxed(RegionLowering& region, Ref id);
void FollowRelaxed(RegionLowering& region, ir::InstId id, const ir::Inst& inst);

}  // namespace kiln::spirv
