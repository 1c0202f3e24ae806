// SPDX-License-Identifier: MIT
// kiln version: which program this is. See spec/cli 6
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

inline constexpr char kVersion[] = "kiln 0.1.0";

void AddVersion(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
