// SPDX-License-Identifier: MIT
// The store of a daemon and everything that builds over it. Part of a daemon; made while it answers
// already that it starts. See spec/daemon 14.1
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/explain/explain_ring.h"
#include "cache/kept_batch_rows.h"
#include "cache/leases/bounded_pins.h"
#include "cache/leases/held_leases.h"
#include "cache/sqlite/maintenance/maintenance.h"
#include "cache/sqlite/tables/batch_table.h"
#include "cache/sqlite/tables/explain_table.h"
#include "cache/sqlite/tables/lease_tables.h"
#include "server/compile/batch/batch.h"
#include "server/compile/cached_build.h"
#include "server/compile/pack/pack_shelf.h"
#include "server/compile/programs/program_pool.h"
#include "server/compile/result_audit.h"
#include "server/config.h"
#include "server/jobs/crash_guard.h"
#include "server/jobs/memory_queue.h"
#include "server/ops/line_log.h"
#include "server/ops/machine.h"
#include "server/reload/subscriptions.h"
#include "server/rpc/calls/request_cache.h"
#include "server/rpc/deferred_engine.h"
#include "server/store_stack.h"
#include "server/worker/pool.h"

namespace kiln::server {

// What the engine uses of the process around it; all of it outlives the engine.
struct EngineSurroundings {
  const Config& config;
  Clock& clock;
  ops::LineLog& log;
  ops::ServiceState& state;
  ops::Metrics& metrics;
  jobs::MemoryQueue& queue;
  worker::Pool& worker_pool;
  std::function<std::string()> slowed_by;  // why fewer batch jobs run; empty: they do not
};

// Members go in the opposite of their order, which is that of their references.
struct DaemonEngine {
  struct StoreOptions {
    std::string salvage_program;
    bool writes_upstream = false;
    std::function<void()> on_access;  // null but in tests
  };

  explicit DaemonEngine(const EngineSurroundings& around)
      : config(around.config),
        clock(around.clock),
        log(around.log),
        state(around.state),
        metrics(around.metrics),
        queue(around.queue),
        worker_pool(around.worker_pool),
        slowed_by(around.slowed_by) {}

  // A store that cannot be opened costs persistence only. Errors: another process has it, or its
  // folder is not the user's own.
  Result<void> OpenStore(const StoreOptions& options);
  // Everything from the pool of programs to the services' view of all of it, `deferred`. Requires:
  // OpenStore.
  void Make(rpc::DeferredEngine& deferred);

  std::vector<CacheUsage> CachesInMemory();
  void DropCaches();
  void AddFaults(std::vector<std::string>& reasons) const;

  rpc::StoreAdmin WholeStore();
  // Of compile::Batches: null where nothing is kept in a file.
  std::function<uint64_t()> LossesOfStore();
  void OpenAttempts();
  void MakeSecondLook();

  const Config& config;
  Clock& clock;
  ops::LineLog& log;
  ops::ServiceState& state;
  ops::Metrics& metrics;
  jobs::MemoryQueue& queue;
  worker::Pool& worker_pool;
  const std::function<std::string()> slowed_by;

  Stack stack;
  std::optional<cache::sqlite::ExplainTable> explain_table;  // these with a file only
  std::optional<cache::sqlite::LeaseTable> leases;
  std::optional<cache::sqlite::PinTable> pins;
  std::optional<cache::HeldLeases> held;
  std::optional<cache::BoundedPins> bounded_pins;  // what everybody pins with
  std::optional<cache::sqlite::BatchTable> batch_table;
  std::optional<cache::KeptBatchRows> batch_rows;  // over it
  std::optional<cache::sqlite::StoreMaintenance> maintenance;
  std::optional<cache::ExplainRing> explains;
  std::unique_ptr<jobs::CrashGuard> attempts;  // null: without a file
  uint64_t poisoned_by_crash = 0;
  std::optional<compile::ProgramPool> pool;
  std::optional<compile::Recipes> recipes;
  std::optional<compile::CachedBuild> builder;
  std::optional<compile::ResultAudit> result_audit;  // nothing if nothing is looked at again
  std::optional<compile::PackShelf> shelf;
  std::optional<compile::Batches> batches;
  std::optional<reload::Subscriptions> watches;
  rpc::RequestCache requests;
  std::string last_crash;  // set before the state is Ready
};

}  // namespace kiln::server
