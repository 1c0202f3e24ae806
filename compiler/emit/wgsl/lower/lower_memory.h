// SPDX-License-Identifier: MIT
// Atomics, barriers and lengths of arrays. Private to this folder.
#pragma once

#include "compiler/emit/wgsl/lower/region_lowering.h"

namespace kiln::wgsl {

void LowerMemory(RegionLowering& region, ir::InstId id, const ir::BuiltinCallInst& inst);

}  // namespace kiln::wgsl
