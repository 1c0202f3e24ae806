// SPDX-License-Identifier: MIT
#include "server/compile/kept_results.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cache/key.h"
#include "cache/record.h"
#include "server/compile/looking.h"

namespace kiln::compile {
namespace {

constexpr size_t kResultsOfPut = 64;

// The record of a result and all content that it names, from wherever they are. Errors: kNotFound
// if not all of it is there.
Result<void> AddResult(cache::BlobStore& store, const cache::Key& key,
                       std::vector<cache::Item>& items, const cache::Call& call) {
  KILN_TRY(const cache::Blob row, store.Get(key, call));
  KILN_TRY(const cache::Record record, cache::DecodeRecord(row.bytes));
  cache::Item item = cache::RecordItem(key.level, key.space, key.id, record);
  for (const Hash128& content : item.refs) {
    KILN_TRY(cache::Blob bytes, store.Get(cache::ContentKey(content), call));
    items.push_back(cache::ContentItem(std::move(bytes)));
  }
  items.push_back(std::move(item));
  return {};
}

// Puts results again that are known and not kept where they shall be. A few at a time, so that what
// is held of them meanwhile is little.
RefusedResults PutAgain(cache::BlobStore& store, std::span<const cache::Key> missing,
                        cache::Durability durability, const cache::Call& call) {
  RefusedResults refused;
  for (size_t begin = 0; begin < missing.size(); begin += kResultsOfPut) {
    const auto some = missing.subspan(begin, std::min(kResultsOfPut, missing.size() - begin));
    std::vector<cache::Item> items;
    uint64_t lost = 0;
    for (const cache::Key& key : some) {
      std::vector<cache::Item> of_result;
      if (AddResult(store, key, of_result, call).ok()) {
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
    refused.Add(PutRows(store, items, durability, call));
    // A store that is full, or an upstream that does not answer, is not asked once more for each of
    // the others.
    if (refused.why.has_value() &&
        (refused.why->code == ErrorCode::kFull || refused.why->reason == cache::kUpstreamDown)) {
      refused.results = missing.size();
      break;
    }
  }
  return refused;
}

// All of them if the store cannot say: then nobody knows.
std::vector<cache::Key> NotStored(cache::BlobStore& store, std::span<const cache::Key> keys,
                                  const cache::Call& call) {
  Result<std::vector<cache::Key>> missing = store.FindMissing(keys, Looking(call));
  return missing.ok() ? *std::move(missing) : std::vector<cache::Key>(keys.begin(), keys.end());
}

}  // namespace

// The rows are halved until the refused one is alone; any other error counts for all of them.
// Halving costs about twice log2(n) puts for each refused row, and one for a batch without any. As
// deep as 2,048 rows have halves.
RefusedResults PutRows(cache::BlobStore& store, std::span<const cache::Item> rows,
                       cache::Durability durability, const cache::Call& call) {
  if (rows.empty()) {
    return {};
  }
  const Result<cache::PutResult> stored = store.Put(rows, durability, call);
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
  RefusedResults refused = PutRows(store, rows.first(half), durability, call);
  refused.Add(PutRows(store, rows.subspan(half), durability, call));
  return refused;
}

// What somebody else put a moment ago, without waiting for it, is in the queue of the store's
// writer and not to be found yet. An empty put comes behind it there: when that is done, so is what
// was before it. It writes nothing, so a call that may only look waits as well.
RefusedResults KeepResults(cache::BlobStore& store, std::span<const cache::Key> results,
                           cache::Durability durability, const cache::Call& call) {
  if (results.empty() || durability == cache::Durability::kRelaxed) {
    return {};
  }
  if (durability == cache::Durability::kQuorum && call.may_write) {
    return PutAgain(store, results, durability, call);
  }
  std::vector<cache::Key> missing = NotStored(store, results, call);
  if (!missing.empty()) {
    cache::Call waits = call;
    waits.may_write = true;
    (void)store.Put({}, cache::Durability::kDurable, waits);
    missing = NotStored(store, missing, call);
  }
  if (call.may_write) {
    return PutAgain(store, missing, durability, call);
  }
  const bool unasked = durability == cache::Durability::kQuorum;
  if (!unasked && missing.empty()) {
    return {};
  }
  return {.results = unasked ? results.size() : missing.size(),
          .why = Error{.code = ErrorCode::kPermissionDenied,
                       .context = "whoever may only read puts nothing again",
                       .reason = std::string(cache::kReadOnly)}};
}

}  // namespace kiln::compile
