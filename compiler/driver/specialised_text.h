// SPDX-License-Identifier: MIT
// One variant -> its specialised IR as text, for those who want to look. See spec/cli 6.7
#pragma once

#include <span>
#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/driver/request.h"

namespace kiln::driver {

// Settings that the program does not take are diagnostics.
Diagnosed<std::string> SpecialisedText(const LinkedProgram& linked,
                                       std::span<const resolve::OptionSetting> settings,
                                       std::span<const resolve::EntryPoint> entries);

}  // namespace kiln::driver
