// SPDX-License-Identifier: MIT
// kiln cache gc: removes what nobody holds. See spec/cache 9
#pragma once

#include <memory>
#include <string>

#include "client/cli/command_line.h"

namespace kiln::cli {

// `dir`: what --dir says once the words are parsed.
void AddCacheGc(CLI::App& cache, CommandLine& line, const std::shared_ptr<const std::string>& dir);

}  // namespace kiln::cli
