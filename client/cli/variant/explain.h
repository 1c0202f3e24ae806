// SPDX-License-Identifier: MIT
// kiln explain: why a request is or was a hit or a miss, as the daemon remembers it; and what a
// diagnostic or an option is about.
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddExplain(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
