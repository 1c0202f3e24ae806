// SPDX-License-Identifier: MIT
// Ids of specialisation constants. See spec/rpl 14.9, spec/hlsl 8.1
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

// By option; of those that are no such constants 0. Diagnostics: LAY2001.
std::vector<uint32_t> AssignSpecIds(const Program& program, std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
