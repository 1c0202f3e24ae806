// SPDX-License-Identifier: MIT
// Inbuilt functions that take images. Private to this folder.
#pragma once

#include "compiler/emit/wgsl/lower/region_lowering.h"

namespace kiln::wgsl {

void LowerSample(RegionLowering& region, ir::InstId id, const ir::BuiltinCallInst& inst);
void LowerImage(RegionLowering& region, ir::InstId id, const ir::BuiltinCallInst& inst);

}  // namespace kiln::wgsl
