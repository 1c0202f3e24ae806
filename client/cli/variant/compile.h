// SPDX-License-Identifier: MIT
// kiln compile: one variant through the daemon, artifacts to files.
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddCompile(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
