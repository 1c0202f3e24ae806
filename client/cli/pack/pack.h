// SPDX-License-Identifier: MIT
// kiln pack: pack files, made, looked at, checked and taken apart. See spec/cli 6.10
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddPack(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
