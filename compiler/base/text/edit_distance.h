// SPDX-License-Identifier: MIT
// How far a word is from another one; closest_name.h is what messages use.
#pragma once

#include <cstddef>
#include <string_view>

namespace kiln {

// The fewest edits that make one of the other: insert, remove or replace a byte, or swap two
// neighbours (no byte is part of two edits: optimal string alignment).
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace kiln
