// SPDX-License-Identifier: MIT
// What the flags of an instruction demand: guards before it, decorations behind it. See docs/IR.md,
// "Flags".
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

// An integer division, remainder or shift that is never undefined. Requires: it is `total`.
Ref LowerTotal(RegionLowering& region, const ir::BinaryInst& inst);
// A float to the nearest integer of the type. Requires: it is `saturating`.
Ref LowerSaturating(RegionLowering& region, const ir::ConvertInst& inst);
// Decorates the result of an instruction that is `precise` or `relaxed`.
void DecorateResult(RegionLowering& region, const ir::Inst& inst, Ref result);

}  // namespace kiln::spirv
