// SPDX-License-Identifier: MIT
// Samplers and images: sampling, fetching, loading, storing, asking; and the decorations of
// resources that a variable picks. See spec/rpl 6.4, 11.3, 14.2, 14.7.
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

// A loaded sampler or image.
struct Handle {
  Ref value{};
  SymbolId type{};
  target::Needs indexing = 0;  // not zero: invocations pick different items
  SymbolId parameter{};        // it is this parameter, else invalid
};
Handle LoadHandle(RegionLowering& region, ir::InstId id);
// Decorates what was made of a handle as not uniform if the handle is, or may be.
void MarkHandle(RegionLowering& region, const Handle& image, Ref id);

// `indexing`: what indexing that kind of resource needs.
void MarkNonUniform(RegionLowering& region, Ref id, target::Needs indexing);
// The index of an array of resources: constants stay; a name of an enclosing region is copied
// first, because only own ids are decorated.
Ref Indexing(RegionLowering& region, Ref step, target::Needs indexing);
Ref LowerSample(RegionLowering& region, const ir::BuiltinCallInst& inst);
Ref LowerImage(RegionLowering& region, const ir::BuiltinCallInst& inst);

}  // namespace kiln::spirv
