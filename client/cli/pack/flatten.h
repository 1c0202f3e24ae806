// SPDX-License-Identifier: MIT
// kiln pack flatten: a delta and its bases as one file. See spec/cli 6.10
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddPackFlatten(CLI::App& pack, CommandLine& line);

}  // namespace kiln::cli
