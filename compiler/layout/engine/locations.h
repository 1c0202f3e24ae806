// SPDX-License-Identifier: MIT
// Locations of varyings and vertex inputs, and the packing of vertex data. See spec/layout 4.8, 9.
#pragma once

#include "compiler/layout/engine/global_order.h"
#include "compiler/layout/program_layout.h"

namespace kiln::layout {

// Fills out.entries and out.containers. On d3d11, pixel outputs were claimed as `u` registers
// before (spec/layout 7.3 step 2).
void PlaceVaryings(const Program& program, const Types& types, Findings& findings,
                   ProgramLayout& out);

// The colour output number of a semantic `SV_Target<n>`, or nothing.
std::optional<uint32_t> TargetIndex(const Varying& varying);

}  // namespace kiln::layout
