// SPDX-License-Identifier: MIT
// What the rows of a specialised region say about it as a whole.
#pragma once

#include "compiler/ir/specialised.h"

namespace kiln::ir {

// Sets everything of `region` that follows from its instructions: mentions (without spans),
// insertion points, stage variables, discards, bound, uses_implicit_lod. For regions that were not
// made by specialising.
void Summarise(SpecialisedRegion& region);

}  // namespace kiln::ir
