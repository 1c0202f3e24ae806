// SPDX-License-Identifier: MIT
// What all batches of a process work with. The parts of Batches (BatchWorker, ScanBatch and the
// functions beside them) get it; what one batch is and has done is in its BatchRun.
//
// Threads: `halted_` is set once and read by any thread; nothing else changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "cache/batch_rows.h"
#include "cache/explain/explain_ring.h"
#include "cache/leases/leases.h"
#include "cache/store.h"
#include "compiler/base/clock.h"
#include "server/compile/cached_build.h"
#include "server/jobs/crash_guard.h"
#include "server/jobs/queue.h"

namespace kiln::compile {

struct BatchOptions {
  uint32_t workers = 1;                       // chunks of one batch that may run at once
  uint64_t spec_bytes = uint64_t{128} << 20;  // of all batches that are remembered
  // In memory: of one principal that is not the owner, and of all batches that are over. Some 500
  // bytes each.
  uint64_t held_results = 4'000'000;
  // Counts what the store lost: equal counts, and what was stored then is stored now. Null: no
  // batch is repeated from what an equal one found.
  std::function<uint64_t()> losses = {};
  cache::ExplainRing* explains = nullptr;  // null: nothing is explained
  cache::Leases* leases = nullptr;         // null: there is nothing to keep from eviction
  cache::Pins* pins = nullptr;             // the same
  cache::BatchRows* rows = nullptr;        // null: batches end with the process
  // What batch work makes way for: empty, cpu, memory, io; null: nothing.
  std::function<std::string()> slowed_by = {};
  // A batch is over: what it took may be given back. Null: nothing.
  std::function<void()> over = {};
  jobs::CrashGuard* attempts = nullptr;  // null: what ends the process in scanning is not found
};

// All outlive the context, those of the options too.
struct BatchContext {
  CachedBuild& builder;
  cache::BlobStore& store;
  jobs::JobQueue& queue;
  Clock& clock;
  const BatchOptions options;
  // The daemon drains: no chunk is started any more, and what ends goes on in the next process.
  std::atomic<bool> halted{false};
};

}  // namespace kiln::compile
