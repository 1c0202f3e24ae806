// SPDX-License-Identifier: MIT
// The statistics of a cache as text and as JSON, whoever counted them. See spec/cache 9
#pragma once

#include <optional>
#include <sys/types.h>

#include "cache/maintenance.h"
#include "client/cli/global.h"
#include "client/types.h"

namespace kiln::cli {

// What a daemon would have sent, but for what only a daemon knows.
client::CacheStats StatsOf(const cache::StoreStats& stats);

// owner: the process that has the store.
void PrintStats(const Global& global, const client::CacheStats& stats, std::optional<pid_t> owner);

}  // namespace kiln::cli
