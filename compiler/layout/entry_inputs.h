// SPDX-License-Identifier: MIT
// Vertex buffers of entry points of typed modules: the rows of their inputs, grouped by source, are
// packed as the fields of attribute containers are. Locations are those of the rows.
#pragma once

#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"

namespace kiln::layout {

// Adds them behind the sources that are there. `types` is of the pool of the variant.
void PlaceEntryInputs(const ir::SpecialisedProgram& variant, TypeLayouts& types, Layout& layout);

}  // namespace kiln::layout
