// SPDX-License-Identifier: MIT
// Samplers and images: sampling, fetching, loading, storing, asking; and the decorations of images
// that a variable picks. See spec/rpl 6.4, 11.3, 14.2, 14.7.
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

void MarkNonUniform(RegionLowering& region, Ref id);
// The index of an image array: constants stay; a name of an enclosing segment is copied first,
// because only own ids are decorated.
Ref Indexing(RegionLowering& region, Ref step);
Ref LowerSample(RegionLowering& region, const ir::BuiltinCallInst& inst);
Ref LowerImage(RegionLowering& region, const ir::BuiltinCallInst& inst);

}  // namespace kiln::spirv
