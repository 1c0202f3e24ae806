// SPDX-License-Identifier: MIT
// What was meant by a wrong entry point of a command line: "fragment:main" is "fragment=main",
// "pixel=main" too.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Stages that an entry point has on command lines.
inline constexpr std::string_view kStageWords[] = {"vertex", "fragment", "compute"};

// "STAGE=FUNCTION", with FUNCTION as it is where nobody names one; empty if no stage is near.
std::string EntryMeantBy(std::string_view text);

}  // namespace kiln
