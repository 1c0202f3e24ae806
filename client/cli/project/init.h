// SPDX-License-Identifier: MIT
// kiln init: writes a manifest from the sources of a folder, or a first source and its manifest.
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddInit(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
