// SPDX-License-Identifier: MIT
// kiln cache gc: removes what nobody holds. See spec/cache 9
#pragma once

#include <memory>
#include <string>

#include "cache/maintenance.h"
#include "client/cache_calls.h"
#include "client/cli/command_line.h"

namespace kiln::cli {

// What a daemon is asked for. A size or an age of 0 that was asked for is 1 there, as the protocol
// has 0 for what was not: no cache has so few bytes.
client::CacheCalls::GcRequest RequestOf(const cache::GcOptions& options);

// `dir`: what --dir says once the words are parsed.
void AddCacheGc(CLI::App& cache, CommandLine& line, const std::shared_ptr<const std::string>& dir);

}  // namespace kiln::cli
