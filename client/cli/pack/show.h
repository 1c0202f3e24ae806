// SPDX-License-Identifier: MIT
// kiln pack show: what is in a pack file. See spec/cli 6.10
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddPackShow(CLI::App& pack, CommandLine& line);

}  // namespace kiln::cli
