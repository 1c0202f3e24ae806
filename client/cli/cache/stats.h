// SPDX-License-Identifier: MIT
// kiln cache stats: how large the cache is and what is in it, whoever counted. See spec/cache 9
#pragma once

#include <memory>
#include <string>

#include "client/cli/command_line.h"

namespace kiln::cli {

// `dir`: what --dir says once the words are parsed.
void AddCacheStats(CLI::App& cache, CommandLine& line,
                   const std::shared_ptr<const std::string>& dir);

}  // namespace kiln::cli
