// SPDX-License-Identifier: MIT
// Structured control flow. Blocks of SPIR-V are opened and closed only here.
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

// Ends the current block.
void Branch(RegionLowering& region, Ref label);
// Code behind a terminator: it never runs, but it may name what the walk will put there. It lasts
// to the end of the block of the IR.
// With the hints in their flags. Requires: a row of that kind.
void LowerIf(RegionLowering& region, const ir::Inst& row);
void LowerLoop(RegionLowering& region, const ir::Inst& row);
void LowerSwitch(RegionLowering& region, const ir::SwitchInst& inst);
void LowerDemote(RegionLowering& region);
void LowerUnreachable(RegionLowering& region);
void LowerInsertionPoint(RegionLowering& region, ir::RegionId nested);
void LowerReturn(RegionLowering& region, const ir::ReturnInst& inst);
void LowerDiscard(RegionLowering& region);
Ref LowerLogical(RegionLowering& region, const ir::LogicalInst& inst);
Ref LowerSelectBlocks(RegionLowering& region, const ir::SelectBlocksInst& inst);

}  // namespace kiln::spirv
