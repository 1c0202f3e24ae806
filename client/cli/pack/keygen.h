// SPDX-License-Identifier: MIT
// kiln pack keygen: a key pair for signing packs. See spec/cli 6.10
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddPackKeygen(CLI::App& pack, CommandLine& line);

}  // namespace kiln::cli
