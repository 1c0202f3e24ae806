// SPDX-License-Identifier: MIT
// kiln options: the option space of a program, counted by the daemon and never enumerated; and any
// variants of it by rank. See spec/cli 6.8
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddOptions(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
