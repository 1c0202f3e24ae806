// SPDX-License-Identifier: MIT
// How far a word is from another one, for messages that name the closest word.
#pragma once

#include <cstddef>
#include <string_view>

namespace kiln {

// The fewest bytes to insert, remove or replace (Levenshtein).
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace kiln
