// SPDX-License-Identifier: MIT
#include "server/compile/batch/batch_acknowledge.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/key.h"
#include "cache/store.h"
#include "server/compile/cached_result.h"
#include "server/compile/looking.h"

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
// refuses shows that content which it was believed to hold is gone.
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

// A look-up in an index for each result of memory, a microsecond or two; those of the store were
// looked up when they were read, and what was compiled is in what was put.
void TellUnstored(const BatchContext& context, BatchRun& run) {
  if (context.options.losses == nullptr || !run.request.pin.empty()) {
    return;  // without a file nothing is kept
  }
  std::vector<cache::Key> keys;
  {
    const MutexLock lock(run.mutex);
    const BatchResults results = run.Told();
    for (size_t i = 0; i < results.size(); ++i) {
      const ResultRow& row = results.Row(i);
      const bool from_memory = row.origin == Origin::kMemory || row.origin == Origin::kShared;
      if (from_memory || (row.origin == Origin::kLocal && !row.stored)) {
        keys.push_back(ResultKey(row.signature));
      }
    }
  }
  Result<std::vector<cache::Key>> missing = context.store.FindMissing(keys, Looking({}));
  if (!missing.ok() || missing->empty()) {
    return;
  }
  // What others put without waiting may be on its way. A put that waits comes behind it, and says
  // why nothing is taken if that is so.
  const Result<cache::PutResult> behind = context.store.Put({}, cache::Durability::kDurable, {});
  missing = context.store.FindMissing(*missing, Looking({}));
  if (!missing.ok() || missing->empty()) {
    return;
  }
  const Error why = behind.ok()
                        ? Error{.code = ErrorCode::kDataLoss,
                                .context =
                                    "they are in the memory of kilnd and not in its cache; stop "
                                    "it with 'kiln stop' and build again",
                                .reason = "NOT_STORED"}
                        : behind.error();
  const MutexLock lock(run.mutex);
  // What this run compiled and the store refused was told, and others may have found it in memory.
  const uint64_t untold =
      run.result_count - std::min<uint64_t>(run.result_count, run.progress.unstored);
  if (const uint64_t more = std::min<uint64_t>(missing->size(), untold); more != 0) {
    run.NoteUnstored(more, why);
  }
}

}  // namespace kiln::compile
