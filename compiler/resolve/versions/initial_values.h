// SPDX-License-Identifier: MIT
// Variables of a typed module whose first values are computed: which of them an entry point may
// use, and the code that gives them their values before anything else runs.
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

// At the start of the body of an entry version. Requires: Program::Initialises.
void ComputeInitialValues(RegionBuilder& region);

}  // namespace kiln::resolve
