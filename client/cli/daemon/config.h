// SPDX-License-Identifier: MIT
// kiln config: what kilnd says of its configuration. See spec/cli 6.12
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddConfig(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
