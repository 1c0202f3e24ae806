// SPDX-License-Identifier: MIT
// kiln pack stats: what costs what in a pack file. See spec/cli 6.10
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddPackStats(CLI::App& pack, CommandLine& line);

}  // namespace kiln::cli
