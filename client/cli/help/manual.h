// SPDX-License-Identifier: MIT
// The declared verbs and flags -> manual pages in the format of man(7), so that page and --help
// cannot differ. See spec/cli 10.2
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

// Hidden: for packagers. `app` is the whole program.
void AddManual(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
