// SPDX-License-Identifier: MIT
// A block, instruction by instruction. Private to this folder.
#pragma once

#include "compiler/emit/wgsl/lower/region_lowering.h"

namespace kiln::wgsl {

void LowerBlock(RegionLowering& region, ir::BlockId block);

}  // namespace kiln::wgsl
