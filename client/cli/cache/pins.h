// SPDX-License-Identifier: MIT
// kiln cache pin, unpin and pins: results that are kept, below their share of the cache.
// See spec/cache 8
#pragma once

#include <memory>
#include <string>

#include "client/cli/command_line.h"

namespace kiln::cli {

// `dir`: what --dir says once the words are parsed.
void AddCachePin(CLI::App& cache, CommandLine& line, const std::shared_ptr<const std::string>& dir);
void AddCacheUnpin(CLI::App& cache, CommandLine& line,
                   const std::shared_ptr<const std::string>& dir);
void AddCachePins(CLI::App& cache, CommandLine& line,
                  const std::shared_ptr<const std::string>& dir);

}  // namespace kiln::cli
