// SPDX-License-Identifier: MIT
// Words for tests that try them all: whatever the tables of the compiler have in quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::property {

// Of every table (`*.def`) in a folder of the sources and below it, such as "compiler/front/hlsl":
// keywords, punctuators, types, functions, semantics. Sorted, each once.
std::vector<std::string> WordsOfTables(std::string_view folder);

// "float4x4" begins with a letter and goes on with letters, digits and underscores.
bool IsName(std::string_view word);

}  // namespace kiln::property
