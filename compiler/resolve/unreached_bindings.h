// SPDX-License-Identifier: MIT
// Resources of WGSL that share a binding. See spec/wgsl 5.5
#pragma once

#include "compiler/ir/specialised.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

// One resource a binding is a rule of entry points, so a module of WGSL may have several for entry
// points that are not asked for together. Takes those out of the interface that share their binding
// and are mentioned by no function that is reached. True if some are: then code decides about the
// layout. Requires: all functions were specialised.
bool LeaveOutUnreachedBindings(const Program& program, ir::SpecialisedProgram& variant);

}  // namespace kiln::resolve
