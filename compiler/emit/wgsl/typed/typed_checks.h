// SPDX-License-Identifier: MIT
// Whether a variant of typed modules can be said in WGSL at all: types, instructions, interfaces
// and resources, before any text is made, so that lowering meets nothing that it has no text for.
// See spec/wgsl 3.16.
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl {

// Whether the modules of the program are typed ones.
bool IsTyped(const ir::SpecialisedProgram& variant);

// All findings are errors, in the order of entry points, functions and declarations. Requires:
// IsTyped.
std::vector<Diagnostic> CheckTyped(const ir::SpecialisedProgram& variant);

}  // namespace kiln::wgsl
