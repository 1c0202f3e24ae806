// SPDX-License-Identifier: MIT
// Content of a batch is put as it is made (kRelaxed); the rows that name it are put here, for
// several slices together, and only then do results count as stored (spec/cache 6.5.3). Rows are
// put in the order in which they were made, which is content before rows.
#include "server/compile/batch/batch_acknowledge.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/key.h"
#include "cache/store.h"

namespace kiln::compile {
namespace {

struct Refused {
  uint64_t results = 0;
  std::optional<Error> why;  // of the first

  void Add(const Refused& more) {
    results += more.results;
    why = why.has_value() ? why : more.why;
  }
};

// Puts rows durably, in order. A row whose content the store refuses does not keep the others out.
// The rows are halved until the refused one is alone; any other error counts for all of them.
// Halving costs about twice log2(n) puts for each refused row, and one for a batch without any. As
// deep as 2,048 rows have halves.
Refused PutRows(cache::BlobStore& store, std::span<const cache::Item> rows,
                cache::Durability durability) {
  if (rows.empty()) {
    return {};
  }
  const Result<cache::PutResult> stored = store.Put(rows, durability, {});
  if (stored.ok()) {
    return {};
  }
  const ErrorCode code = stored.error().code;
  const bool one_is_wrong =
      code == ErrorCode::kFailedPrecondition || code == ErrorCode::kAlreadyExists;
  if (rows.size() == 1 || !one_is_wrong || stored.error().reason == cache::kReadOnly) {
    const auto results = std::ranges::count_if(
        rows, [](const cache::Item& row) { return row.key.level == cache::Level::kSignature; });
    return {.results = static_cast<uint64_t>(results), .why = stored.error()};
  }
  const size_t half = rows.size() / 2;
  Refused refused = PutRows(store, rows.first(half), durability);
  refused.Add(PutRows(store, rows.subspan(half), durability));
  return refused;
}

}  // namespace

// Records name content, so they are taken only if everything before them was: what the store
// refuses shows that content which it was believed to hold is gone. Without the lock: the disk
// takes milliseconds. Two chunks may be here at once, each with its own rows.
void Acknowledge(const BatchContext& context, BatchRun& run) {
  std::vector<cache::Item> rows;
  {
    const MutexLock lock(run.mutex);
    rows.swap(run.rows);
  }
  const Refused refused =
      PutRows(context.store, rows,
              run.request.quorum ? cache::Durability::kQuorum : cache::Durability::kDurable);
  if (refused.results != 0) {
    context.builder.DistrustStore();
    const MutexLock lock(run.mutex);
    run.NoteUnstored(refused.results, *refused.why);
  }
}

}  // namespace kiln::compile
