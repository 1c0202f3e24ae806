// SPDX-License-Identifier: MIT
// Calls of functions.
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

Ref LowerCall(RegionLowering& region, const ir::CallInst& inst);

}  // namespace kiln::spirv
