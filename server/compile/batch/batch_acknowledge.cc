// SPDX-License-Identifier: MIT
// Content of a batch is put as it is made (kRelaxed); the rows that name it are put here, for
// several slices together, and only then do results count as stored (spec/cache 6.5.3). Rows are
// put in the order in which they were made, which is content before rows.
#include "server/compile/batch/batch_acknowledge.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cache/key.h"
#include "cache/store.h"
#include "server/compile/cached_result.h"
#include "server/compile/kept_results.h"

namespace kiln::compile {
namespace {

// Of results that this run found, those of which nobody has said that they are kept as they shall
// be.
std::vector<cache::Key> FoundResults(BatchRun& run) {
  std::vector<cache::Key> found;
  const MutexLock lock(run.mutex);
  for (const BatchRun::Results& of : run.results) {
    for (size_t i = 0; of.own != nullptr && i < of.own->size(); ++i) {
      const ResultRow& row = of.own->Row(i);
      const bool from_memory = row.origin == Origin::kMemory || row.origin == Origin::kShared;
      // Those of the store were looked up when they were read, and what was compiled is in what was
      // put. What the upstream has is for the upstream to say.
      if (from_memory || (row.origin == Origin::kLocal && !row.stored) ||
          (run.request.quorum && row.origin != Origin::kCompiled)) {
        found.push_back(ResultKey(row.signature));
      }
    }
  }
  return found;
}

cache::Durability DurabilityOf(const BatchRun& run) {
  return run.request.quorum ? cache::Durability::kQuorum : cache::Durability::kDurable;
}

}  // namespace

// A result that the database did not take, because it was full for example, is in memory and found
// there by the next batch, which must not call it cached: it goes with the process. So the database
// is asked for what came from memory (one look-up each), and gets what it lacks again; an upstream
// that is waited for gets all that was found. Results of an earlier batch that stand for this one
// are stored already, and stand for none that waits for an upstream.
void StoreFound(const BatchContext& context, BatchRun& run) {
  if (context.options.losses == nullptr && !run.request.quorum) {
    return;  // without a file nothing is kept
  }
  const RefusedResults refused =
      KeepResults(context.store, FoundResults(run), DurabilityOf(run),
                  run.request.quorum ? cache::Call{.stop = run.stop.get_token()} : cache::Call{});
  if (refused.results == 0 || run.stop.stop_requested()) {
    return;  // of a run that is cancelled nobody is told more
  }
  const MutexLock lock(run.mutex);
  // What this run compiled and the store refused was told, and others may have found it in memory.
  const uint64_t told = std::min<uint64_t>(run.result_count, run.progress.unstored);
  if (const uint64_t more = std::min(refused.results, run.result_count - told); more != 0) {
    run.NoteUnstored(more, *refused.why);
  }
}

// Records name content, so they are taken only if everything before them was: what the store
// refuses shows that content which it was believed to hold is gone. Without the lock: the disk
// takes milliseconds. Two chunks may be here at once, each with its own rows.
void Acknowledge(const BatchContext& context, BatchRun& run) {
  std::vector<cache::Item> rows;
  {
    const MutexLock lock(run.mutex);
    rows.swap(run.rows);
  }
  const RefusedResults refused = PutRows(context.store, rows, DurabilityOf(run), {});
  if (refused.results != 0) {
    context.builder.DistrustStore();
    const MutexLock lock(run.mutex);
    run.NoteUnstored(refused.results, *refused.why);
  }
}

}  // namespace kiln::compile
