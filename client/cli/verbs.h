// SPDX-License-Identifier: MIT
// All verbs of kiln, in the order of its help. See spec/cli 6
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

// `line` outlives the app, and what the parser chose is in it.
void AddVerbs(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
