// SPDX-License-Identifier: MIT
// What SPIR-V has no room for, however much memory there is: an instruction has 65,535 words, a
// struct, a switch and a function have limits of their own (SPIR-V, "Universal Limits"). One place
// for all languages, asked of what they come to. See spec/daemon 10 class D
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

// Reports LIM1001 for the first thing of each kind in a region that was specialised without errors.
// False: there is one. Linear in the rows of the region; each type is looked into once for all
// regions of the evaluator.
bool CheckSpirvLimits(RegionBuilder& region);

}  // namespace kiln::resolve
