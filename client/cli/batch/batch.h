// SPDX-License-Identifier: MIT
// kiln batch: list, show, attach, items, pause, resume, cancel. See spec/cli 6.3
#pragma once

#include <string>

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddBatch(CLI::App& app, CommandLine& line);

// Resumes and follows; no prefix: the latest batch of the project.
int RunBatchResume(const Global& global, const std::string& prefix);

}  // namespace kiln::cli
