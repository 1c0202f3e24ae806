// SPDX-License-Identifier: MIT
// kiln inspect: views of a result or a file, or what two of them differ in.
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddInspect(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
