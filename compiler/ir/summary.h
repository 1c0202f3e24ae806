// SPDX-License-Identifier: MIT
// What the rows of a specialised region say about it as a whole.
#pragma once

#include "compiler/ir/specialised.h"

namespace kiln::ir {

// Sets everything of `segment` that follows from its instructions: mentions (without spans), holes,
// stage variables, discards, bound, uses_implicit_lod. For segments that were not made by closing.
void Summarise(SpecialisedRegion& segment);

}  // namespace kiln::ir
