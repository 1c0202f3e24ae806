// SPDX-License-Identifier: MIT
// kiln cache why: why the result of a key was made or found. See spec/cache 9, 11.3
#pragma once

#include <memory>
#include <string>

#include "client/cli/command_line.h"

namespace kiln::cli {

// `dir`: what --dir says once the words are parsed.
void AddCacheWhy(CLI::App& cache, CommandLine& line, const std::shared_ptr<const std::string>& dir);

}  // namespace kiln::cli
