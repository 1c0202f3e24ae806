// SPDX-License-Identifier: MIT
// kiln start: the daemon in the background. See spec/cli 6.11
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddStart(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
