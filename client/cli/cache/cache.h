// SPDX-License-Identifier: MIT
// kiln cache: the store of this user. If the daemon of the flags has it, the daemon is asked and
// works on it while it serves; else it is opened here. See spec/cli 6.11, spec/cache 9
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddCache(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
