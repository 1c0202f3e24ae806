// SPDX-License-Identifier: MIT
// kiln watch: rebuild on save, show diagnostics, keep outputs current.
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddWatch(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
