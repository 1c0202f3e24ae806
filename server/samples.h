// SPDX-License-Identifier: MIT
// The numbers that parts of the daemon keep for themselves, as samples of the metrics table.
// See spec/daemon 13.2
#pragma once

#include <string>
#include <vector>

#include "cache/decorators/metrics_store.h"
#include "cache/maintenance.h"
#include "cache/sqlite/sqlite_store.h"
#include "server/compile/batch/batch.h"
#include "server/compile/cached_build.h"
#include "server/jobs/queue.h"
#include "server/ops/access.h"
#include "server/ops/metrics.h"
#include "server/ops/service_state.h"
#include "server/reload/subscriptions.h"
#include "server/rpc/reactors/host.h"
#include "server/worker/pool.h"

namespace kiln::server {

struct SampleSources {
  const cache::MetricsStore& store;
  cache::sqlite::SqliteStore* file;  // null: nothing is kept
  uint64_t memory_bytes;             // of the cache in memory
  std::array<uint64_t, cache::kCauseCount> miss_causes;
  const compile::BuildCounters& built;
  uint64_t merged;  // requests that found what they ask for being built
  const compile::RecipeCounters& recipes;
  uint64_t poisoned_by_crash = 0;
  uint64_t differed_when_rebuilt = 0;
  worker::PoolCounters workers;
  std::vector<bool> upstreams;  // whether each of them answers, nearest first
  cache::CallCounts upstream_calls;
  compile::Batches& batches;
  reload::Subscriptions& watches;
  jobs::JobQueue& queue;
  ops::Access& access;
  ops::ServiceState& state;
  uint64_t refused_connections;
  std::string version, build_id;
};

std::vector<ops::Sample> ReadSamples(const SampleSources& from);

// Worker processes as GetStatus shows them.
std::vector<rpc::WorkerRow> WorkerRowsOf(worker::Pool& pool);

}  // namespace kiln::server
