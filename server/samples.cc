// SPDX-License-Identifier: MIT
// Values of other parts as samples of metrics (spec/daemon 13). They are read in the thread of the
// scrape, so no sample may wait for the store's writer or the network.
#include "server/samples.h"

#include <chrono>
#include <utility>

#include "server/ops/machine.h"

namespace kiln::server {
namespace {

using Samples = std::vector<ops::Sample>;

double Seconds(uint64_t microseconds) { return static_cast<double>(microseconds) * 1e-6; }

// Values that other parts count already are read when somebody scrapes. So counting costs no second
// counter, and nothing while nobody looks.
void AddCache(const SampleSources& from, Samples& out) {
  const cache::MetricsSnapshot store = from.store.Snapshot();
  const auto add = [&](std::string_view name, ops::Labels labels, uint64_t value) {
    out.push_back({.name = name, .labels = std::move(labels), .value = static_cast<double>(value)});
  };
  for (size_t i = 0; i < store.levels.size(); ++i) {
    const std::string level(cache::LevelName(static_cast<cache::Level>(i)));
    // Every series of one name has the same labels, so the cause is there even where it is empty:
    // Prometheus takes series apart by all of them.
    add("kiln_cache_lookups_total", {{"level", level}, {"result", "hit"}, {"cause", ""}},
        store.levels[i].hits);
    add("kiln_cache_lookups_total", {{"level", level}, {"result", "miss"}, {"cause", ""}},
        store.levels[i].misses);
  }
  // Cause 0 is "none" and belongs to hits.
  for (uint32_t cause = 1; cause < cache::kCauseCount; ++cause) {
    add("kiln_cache_lookups_total",
        {{"level", "result"},
         {"result", "miss"},
         {"cause", std::string(cache::CauseName(static_cast<cache::Cause>(cause)))}},
        from.miss_causes[cause]);
  }
  add("kiln_cache_lookups_total", {{"level", "result"}, {"result", "hit"}, {"cause", ""}},
      from.built.hits);
  add("kiln_cache_lookups_total", {{"level", "result"}, {"result", "shared"}, {"cause", ""}},
      from.built.shared);
  add("kiln_cache_lookups_total", {{"level", "result"}, {"result", "negative"}, {"cause", ""}},
      from.built.failed);
  add("kiln_cache_bytes", {{"level", "memory"}}, from.memory_bytes);
  add("kiln_cache_refused_total", {{"reason", "failed"}}, store.failed_puts);
  if (from.file == nullptr) {
    add("kiln_cache_nondeterminism_total", {}, from.differed_when_rebuilt);
    return;
  }
  const cache::sqlite::SqliteStatus file = from.file->Status();
  add("kiln_cache_bytes", {{"level", "file"}}, file.used_bytes);
  add("kiln_cache_wal_bytes", {}, static_cast<uint64_t>(file.wal_bytes));
  // Counted in the background; until the first count is there the series are left out, because zero
  // would be a lie.
  const std::optional<cache::sqlite::RecordCounts> records = from.file->Records();
  for (size_t i = 0; records.has_value() && i < records->size(); ++i) {
    add("kiln_cache_records",
        {{"level", std::string(cache::LevelName(static_cast<cache::Level>(i)))}}, (*records)[i]);
  }
  add("kiln_cache_evicted_total", {{"reason", "collection"}}, file.evicted);
  add("kiln_cache_evicted_total", {{"reason", "age"}}, file.aged);
  add("kiln_cache_refused_total", {{"reason", "full"}}, file.refused_full);
  add("kiln_cache_collision_total", {}, file.collisions);
  add("kiln_cache_nondeterminism_total", {}, file.nondeterminism + from.differed_when_rebuilt);
  for (uint32_t kind = 0; kind < cache::kDamageKindCount; ++kind) {
    add("kiln_cache_corrupt_total",
        {{"what", std::string(cache::DamageKindName(static_cast<cache::DamageKind>(kind)))}},
        file.damage[kind]);
  }
  // A sum and a count: their quotient over a time is the mean of that time.
  out.push_back({.name = "kiln_cache_commit_seconds",
                 .labels = {},
                 .value = Seconds(file.commit_us),
                 .count = file.groups});
  out.push_back({.name = "kiln_cache_group_size",
                 .labels = {},
                 .value = static_cast<double>(file.grouped_requests),
                 .count = file.groups});
}

// All pairs are told, also those with a count of zero: a series that appears with its first error
// has no rate before it.
void AddUpstreamCalls(const cache::CallCounts& calls, Samples& out) {
  for (size_t op = 0; op < cache::kStoreOpCount; ++op) {
    for (size_t result = 0; result < cache::kCallResultCount; ++result) {
      out.push_back(
          {.name = "kiln_upstream_requests_total",
           .labels = {{"op", std::string(cache::StoreOpName(static_cast<cache::StoreOp>(op)))},
                      {"result",
                       std::string(cache::CallResultName(static_cast<cache::CallResult>(result)))}},
           .value = static_cast<double>(calls[op][result])});
    }
  }
}

// Counters of batches are sums over the batches that are remembered, and fall when one is
// forgotten.
void AddWork(const SampleSources& from, Samples& out) {
  const auto add = [&](std::string_view name, ops::Labels labels, uint64_t value) {
    out.push_back({.name = name, .labels = std::move(labels), .value = static_cast<double>(value)});
  };
  add("kiln_cache_inflight_merged_total", {}, from.merged);
  add("kiln_dedup_variants_total", {}, from.built.shared);
  add("kiln_dedup_code_total", {}, from.built.code_shared);
  out.push_back({.name = "kiln_cpu_saved_seconds_total",
                 .labels = {},
                 .value = Seconds(from.built.saved_us)});
  out.push_back({.name = "kiln_stage_cpu_seconds_total",
                 .labels = {{"stage", "compile"}, {"target", "all"}},
                 .value = Seconds(from.built.cpu_us)});
  add("kiln_worker_restarts_total", {{"cause", "recycled"}}, from.workers.recycled);
  add("kiln_worker_restarts_total", {{"cause", "killed"}}, from.workers.killed);
  add("kiln_poison_total", {{"cause", "recipe"}}, from.recipes.poisoned);
  add("kiln_poison_total", {{"cause", "crash"}}, from.poisoned_by_crash);
  for (size_t i = 0; i < from.upstreams.size(); ++i) {
    add("kiln_upstream_state", {{"upstream", std::to_string(i)}}, from.upstreams[i] ? 1 : 0);
  }
  AddUpstreamCalls(from.upstream_calls, out);
  const jobs::QueueStatus queue = from.queue.Status();
  for (size_t lane = 0; lane < jobs::kLaneCount; ++lane) {
    const std::string name = lane == 0 ? "interactive" : "batch";
    add("kiln_queue_length", {{"lane", name}}, queue.waiting[lane]);
    add("kiln_running", {{"lane", name}}, queue.running[lane]);
  }
  uint64_t active = 0;
  compile::BatchProgress sum;
  for (const compile::BatchSummary& batch : from.batches.List()) {
    active +=
        batch.state == compile::BatchState::kQueued || batch.state == compile::BatchState::kRunning;
    sum.hit_memory += batch.progress.hit_memory;
    sum.hit_local += batch.progress.hit_local;
    sum.shared += batch.progress.shared;
    sum.compiled += batch.progress.compiled;
    sum.failed += batch.progress.failed;
  }
  add("kiln_batch_active", {}, active);
  add("kiln_batch_results_total", {{"kind", "hit_memory"}}, sum.hit_memory);
  add("kiln_batch_results_total", {{"kind", "hit_local"}}, sum.hit_local);
  add("kiln_batch_results_total", {{"kind", "shared"}}, sum.shared);
  add("kiln_batch_results_total", {{"kind", "compiled"}}, sum.compiled);
  add("kiln_batch_results_total", {{"kind", "failed"}}, sum.failed);
}

void AddWatches(const SampleSources& from, Samples& out) {
  const reload::Subscriptions::Status watches = from.watches.GetStatus();
  out.push_back({.name = "kiln_watch_sessions",
                 .labels = {},
                 .value = static_cast<double>(watches.sessions)});
  out.push_back({.name = "kiln_watch_conflated_total",
                 .labels = {},
                 .value = static_cast<double>(watches.counters.conflated)});
  out.push_back({.name = "kiln_watch_latency_seconds",
                 .labels = {},
                 .value = std::chrono::duration<double>(watches.counters.latency).count(),
                 .count = watches.counters.artifacts});
}

// The health is asked once, so that the series of one scrape agree.
void AddDaemon(const SampleSources& from, Samples& out) {
  out.push_back({.name = "kiln_build_info",
                 .labels = {{"version", from.version}, {"build_id", from.build_id}},
                 .value = 1});
  const ops::Health health = from.state.health();
  // One series for each state, of which exactly one is 1: a board can then show how long each
  // lasted.
  for (const ops::Health state :
       {ops::Health::kStarting, ops::Health::kServing, ops::Health::kDegraded,
        ops::Health::kDraining, ops::Health::kStopped}) {
    out.push_back({.name = "kiln_health_state",
                   .labels = {{"state", std::string(ops::HealthName(state))}},
                   .value = state == health ? 1.0 : 0.0});
  }
  for (const char* resource : {"cpu", "memory", "io"}) {
    // A kernel without pressure figures has no series; 0 would say that nothing ever waits.
    if (const std::optional<double> pressure = ops::Pressure(resource); pressure.has_value()) {
      out.push_back(
          {.name = "kiln_pressure_ratio", .labels = {{"resource", resource}}, .value = *pressure});
    }
  }
  out.push_back({.name = "kiln_auth_failures_total",
                 .labels = {{"reason", "token"}},
                 .value = static_cast<double>(from.access.failures())});
  out.push_back({.name = "kiln_limit_hits_total",
                 .labels = {{"limit", "connections"}},
                 .value = static_cast<double>(from.refused_connections)});
}

}  // namespace

// Read one part after the other and under no common lock, so figures of two parts may be of
// slightly different times.
std::vector<ops::Sample> ReadSamples(const SampleSources& from) {
  Samples out;
  AddCache(from, out);
  AddWork(from, out);
  AddWatches(from, out);
  AddDaemon(from, out);
  return out;
}

std::vector<rpc::WorkerRow> WorkerRowsOf(worker::Pool& pool) {
  std::vector<rpc::WorkerRow> rows;
  for (worker::ProcessRow& row : pool.Rows()) {
    rows.push_back({.pid = row.pid,
                    .job = std::move(row.job),
                    .jobs_done = row.jobs_done,
                    .memory = row.memory});
  }
  return rows;
}

}  // namespace kiln::server
