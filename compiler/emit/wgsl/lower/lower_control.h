// SPDX-License-Identifier: MIT
// Statements and values that own blocks, and calls. Private to this folder.
#pragma once

#include "compiler/emit/wgsl/lower/region_lowering.h"

namespace kiln::wgsl {

void LowerIf(RegionLowering& region, const ir::IfInst& inst);
void LowerLoop(RegionLowering& region, const ir::LoopInst& inst);
void LowerReturn(RegionLowering& region, const ir::ReturnInst& inst);
void LowerDiscard(RegionLowering& region);
void LowerInsertionPoint(RegionLowering& region, const ir::InsertionPointInst& inst);
void LowerLogical(RegionLowering& region, ir::InstId id, const ir::LogicalInst& inst);
void LowerSelectBlocks(RegionLowering& region, ir::InstId id, const ir::SelectBlocksInst& inst);
void LowerCall(RegionLowering& region, ir::InstId id, const ir::CallInst& inst);

}  // namespace kiln::wgsl
