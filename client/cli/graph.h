// SPDX-License-Identifier: MIT
// kiln graph: a frame description -> its plan as text, JSON, Graphviz or a picture. Needs no GPU.
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddGraph(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
