// SPDX-License-Identifier: MIT
// kiln cache repair: verifies, mends what can be, drops what cannot. See spec/cache 9
#pragma once

#include <memory>
#include <string>

#include "client/cli/command_line.h"

namespace kiln::cli {

// `dir`: what --dir says once the words are parsed.
void AddCacheRepair(CLI::App& cache, CommandLine& line,
                    const std::shared_ptr<const std::string>& dir);

}  // namespace kiln::cli
