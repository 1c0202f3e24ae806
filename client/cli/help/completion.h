// SPDX-License-Identifier: MIT
// Completion in shells: the words typed so far -> what the last one may become. Knows verbs and
// flags from the table that parses them, programs and options from the manifest; asks no daemon.
// See spec/cli 10.3
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

// Scripts for bash, zsh and fish, and the hidden verb that they ask. `app` is the whole program.
void AddCompletion(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
