// SPDX-License-Identifier: MIT
// kiln pack diff: what two pack files differ in. See spec/cli 6.10
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddPackDiff(CLI::App& pack, CommandLine& line);

}  // namespace kiln::cli
