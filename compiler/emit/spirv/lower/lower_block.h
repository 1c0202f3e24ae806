// SPDX-License-Identifier: MIT
// Blocks of specialised IR, instruction by instruction.
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

void LowerBlock(RegionLowering& region, ir::BlockId block);
// The value that the block yields.
Ref LowerValueBlock(RegionLowering& region, ir::BlockId block);

}  // namespace kiln::spirv
