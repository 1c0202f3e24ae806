// SPDX-License-Identifier: MIT
// kiln serve: the daemon in the foreground. See spec/cli 6.11
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddServe(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
