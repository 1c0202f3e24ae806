// SPDX-License-Identifier: MIT
// kiln token: tokens of the daemon, made and revoked by kilnd. See spec/cli 6.12
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddToken(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
