// SPDX-License-Identifier: MIT
// What the paths come to that a module asks for (probe.h): they are kept with it, in memory and
// stored, and a short include is looked for in every root. One more path is an error of the source
// (HLSL1007), and longer lists of others are damage.
#pragma once

#include <cstdint>

namespace kiln {

inline constexpr uint64_t kMostProbedBytes = uint64_t{1} << 20;

}  // namespace kiln
