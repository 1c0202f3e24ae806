// SPDX-License-Identifier: MIT
// kiln build --dry-run: counts of every program against its budget. See spec/cli 6.2.1
#pragma once

#include <string>

#include "client/cli/batch/batch_run.h"

namespace kiln::cli {

// Compiles nothing. The exit code: kLimit if a program is above its budget.
int DryRun(const Global& global, const Project& project, const std::string& where,
           client::Client& client);

}  // namespace kiln::cli
