// SPDX-License-Identifier: MIT
// Static liveness: which options the results of a program can depend on at all, every condition
// taken as unknown. Linked program and entry points -> for every option how many declarations and
// code segments can consult it; 0: it is dead. Over-approximates what a build reads.
// Spec: daemon §6.5.1
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/resolve/close_variant.h"
#include "compiler/resolve/program.h"

namespace kiln::project {

// By OptionId. Reached are: the entry points, the whole interface, the settings, and what those
// mention by name. Mentioning a constant is mentioning what its value and condition mention.
std::vector<uint64_t> DependentsOf(const resolve::Program& program,
                                   std::span<const resolve::EntryPoint> entries);

}  // namespace kiln::project
