// SPDX-License-Identifier: MIT
// kiln build: every variant of the manifest's programs as a batch.
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddBuild(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
