// SPDX-License-Identifier: MIT
// kiln stop: the end of the daemon. See spec/cli 6.11
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddStop(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
