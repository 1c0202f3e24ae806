// SPDX-License-Identifier: MIT
// kiln fmt: sources in one style. See spec/cli 6.14
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddFmt(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
