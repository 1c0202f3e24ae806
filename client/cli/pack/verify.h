// SPDX-License-Identifier: MIT
// kiln pack verify: whether a pack file is sound. See spec/cli 6.10
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddPackVerify(CLI::App& pack, CommandLine& line);

}  // namespace kiln::cli
