// SPDX-License-Identifier: MIT
// The version of kiln, of all its programs and libraries, as CMakeLists.txt has it. Behind a
// function, so that a new version compiles one file anew.
#pragma once

#include <string_view>

namespace kiln {

// "0.2.0"; ends in a zero byte.
std::string_view Version();

}  // namespace kiln
