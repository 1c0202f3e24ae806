// SPDX-License-Identifier: MIT
// What only some stages may do. Regions of typed modules are made without asking for the stage, so
// this is looked at when it is known who reaches them.
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

// Diagnostics: HLSL3007, HLSL3019. O(instructions)
void CheckStageRules(const Program& program, ir::Stage stage, const ir::SpecialisedRegion& region,
                     std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
