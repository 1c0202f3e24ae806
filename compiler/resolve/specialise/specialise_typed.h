// SPDX-License-Identifier: MIT
// Specialises a region of a typed module: conditions are decided, compile-time expressions become
// constants, ids and types those of the pool and the program. Generic rows + results of queries ->
// specialised rows. See docs/IR.md, "Typed modules".
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

// The block of the region, as its body. False if anything failed, which was said.
bool SpecialiseTyped(RegionBuilder& region);

}  // namespace kiln::resolve
