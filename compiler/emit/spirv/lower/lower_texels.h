// SPDX-License-Identifier: MIT
// What typed modules do with images: `image` with its keyword operands, and pointers to texels. See
// docs/IR.md, "Images".
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

Ref LowerImageOp(RegionLowering& region, const ir::ImageInst& inst);
// A pointer to the texel, for one atomic.
Ref LowerTexel(RegionLowering& region, const ir::Inst& inst);

}  // namespace kiln::spirv
