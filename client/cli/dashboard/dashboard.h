// SPDX-License-Identifier: MIT
// `kiln dashboard`
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddDashboard(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
