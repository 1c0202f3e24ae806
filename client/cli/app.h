// SPDX-License-Identifier: MIT
// The flags and verbs of kiln as tables of the parser: help, manual pages and completion are made
// from them. Everything given must outlive the app; `chosen` is what runs afterwards.
// See spec/cli 2, 5
#pragma once

#include <CLI/CLI.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/arguments.h"

namespace kiln::cli {

void AddGlobal(CLI::App& app, Global& global);  // what every verb takes
void AddLookVerbs(CLI::App& app, Arguments& arguments, Action& chosen);
void AddBuildVerbs(CLI::App& app, Arguments& arguments, Action& chosen);
void AddOperatorVerbs(CLI::App& app, Arguments& arguments, Action& chosen);

}  // namespace kiln::cli
