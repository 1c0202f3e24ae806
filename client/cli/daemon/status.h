// SPDX-License-Identifier: MIT
// kiln status: the daemon, its queue, its batches, at this moment. See spec/cli 6.11
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddStatus(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
