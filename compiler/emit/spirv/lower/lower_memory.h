// SPDX-License-Identifier: MIT
// Atomics, barriers and lengths of runtime arrays. See spec/rpl 14.6, 14.7
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

Ref LowerMemory(RegionLowering& region, const ir::BuiltinCallInst& inst);
// Of typed modules: docs/IR.md, "Memory".
Ref LowerAtomicInst(RegionLowering& region, const ir::AtomicInst& inst);
void LowerBarrierInst(RegionLowering& region, const ir::BarrierInst& inst);

}  // namespace kiln::spirv
