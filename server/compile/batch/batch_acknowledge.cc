// SPDX-License-Identifier: MIT
// Content of a batch is put as it is made (kRelaxed); the rows that name it are put here, for
// several slices together, and only then do results count as stored (spec/cache 6.5.3). Rows are
// put in the order in which they were made, which is content before rows.
#include "server/compile/batch/batch_acknowledge.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cache/key.h"
#include "cache/record.h"
#include "cache/store.h"
#include "server/compile/cached_result.h"
#include "server/compile/looking.h"

namespace kiln::compile {
namespace {

struct RefusedResults {
  uint64_t results = 0;
  std::optional<Error> why;  // of the first

  void Add(const RefusedResults& more) {
    results += more.results;
    why = why.has_value() ? why : more.why;
  }
};

// Puts rows durably, in order. A row whose content the store refuses does not keep the others out.
// The rows are halved until the refused one is alone; any other error counts for all of them.
// Halving costs about twice log2(n) puts for each refused row, and one for a batch without any. As
// deep as 2,048 rows have halves.
RefusedResults PutRows(cache::BlobStore& store, std::span<const cache::Item> rows,
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
  RefusedResults refused = PutRows(store, rows.first(half), durability);
  refused.Add(PutRows(store, rows.subspan(half), durability));
  return refused;
}

constexpr size_t kResultsOfPut = 64;

// The record of a result that the store below does not have, and all content that it names, from
// memory. Errors: kNotFound if memory has not all of it either.
Result<void> AddFromMemory(cache::BlobStore& store, const cache::Key& key,
                           std::vector<cache::Item>& items) {
  KILN_TRY(const cache::Blob row, store.Get(key, {}));
  KILN_TRY(const cache::Record record, cache::DecodeRecord(row.bytes));
  cache::Item item = cache::RecordItem(key.level, key.space, key.id, record);
  for (const Hash128& content : item.refs) {
    KILN_TRY(cache::Blob bytes, store.Get(cache::ContentKey(content), {}));
    items.push_back(cache::ContentItem(std::move(bytes)));
  }
  items.push_back(std::move(item));
  return {};
}

// Puts results again that memory has and the store below has not. A few at a time, so that what is
// held of them meanwhile is little.
RefusedResults PutAgain(cache::BlobStore& store, std::span<const cache::Key> missing,
                        cache::Durability durability) {
  RefusedResults refused;
  for (size_t begin = 0; begin < missing.size(); begin += kResultsOfPut) {
    const auto some = missing.subspan(begin, std::min(kResultsOfPut, missing.size() - begin));
    std::vector<cache::Item> items;
    uint64_t lost = 0;
    for (const cache::Key& key : some) {
      std::vector<cache::Item> of_result;
      if (AddFromMemory(store, key, of_result).ok()) {
        items.insert(items.end(), std::make_move_iterator(of_result.begin()),
                     std::make_move_iterator(of_result.end()));
      } else {
        ++lost;
      }
    }
    if (lost != 0) {
      refused.Add({.results = lost,
                   .why = Error{.code = ErrorCode::kDataLoss,
                                .context = "they went from memory before they were stored; build "
                                           "again",
                                .reason = "NOT_STORED"}});
    }
    refused.Add(PutRows(store, items, durability));
    // A store that is full, or takes nothing, is not asked once more for each of the others.
    if (refused.why.has_value() && refused.why->code == ErrorCode::kFull) {
      refused.results = missing.size();
      break;
    }
  }
  return refused;
}

// Of results that this run found, those that the store below does not have.
std::vector<cache::Key> FoundInMemoryOnly(const BatchContext& context, BatchRun& run) {
  std::vector<cache::Key> found;
  {
    const MutexLock lock(run.mutex);
    for (const BatchRun::Results& of : run.results) {
      for (size_t i = 0; of.own != nullptr && i < of.own->size(); ++i) {
        const ResultRow& row = of.own->Row(i);
        const bool from_memory = row.origin == Origin::kMemory || row.origin == Origin::kShared;
        // Those of the store were looked up when they were read, and what was compiled is in what
        // was put.
        if (from_memory || (row.origin == Origin::kLocal && !row.stored)) {
          found.push_back(ResultKey(row.signature));
        }
      }
    }
  }
  if (found.empty()) {
    return {};
  }
  Result<std::vector<cache::Key>> missing = context.store.FindMissing(found, Looking({}));
  return missing.ok() ? *std::move(missing) : std::vector<cache::Key>();
}

}  // namespace

// A result that the database did not take, because it was full for example, is in memory and found
// there by the next batch, which must not call it cached: it goes with the process. So the database
// is asked for what came from memory (one look-up each), and gets what it lacks again;
// results of an earlier batch that stand for this one are stored already.
void StoreFound(const BatchContext& context, BatchRun& run) {
  if (context.options.losses == nullptr) {
    return;  // without a file nothing is kept
  }
  const std::vector<cache::Key> missing = FoundInMemoryOnly(context, run);
  if (missing.empty()) {
    return;
  }
  const RefusedResults refused =
      PutAgain(context.store, missing,
               run.request.quorum ? cache::Durability::kQuorum : cache::Durability::kDurable);
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
  const RefusedResults refused =
      PutRows(context.store, rows,
              run.request.quorum ? cache::Durability::kQuorum : cache::Durability::kDurable);
  if (refused.results != 0) {
    context.builder.DistrustStore();
    const MutexLock lock(run.mutex);
    run.NoteUnstored(refused.results, *refused.why);
  }
}

}  // namespace kiln::compile
