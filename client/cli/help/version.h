// SPDX-License-Identifier: MIT
// kiln version: which program this is. See spec/cli 6
#pragma once

#include <string>

#include "client/cli/command_line.h"

namespace kiln::cli {

// "kiln 0.2.0"
std::string VersionLine();

void AddVersion(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
