// SPDX-License-Identifier: MIT
// kiln doctor: the installation and its surroundings, one line per check, then what to do about
// what is wrong. See spec/cli 6.11
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddDoctor(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
