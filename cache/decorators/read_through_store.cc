// SPDX-License-Identifier: MIT
#include "cache/decorators/read_through_store.h"

#include <algorithm>

#include "cache/record.h"

namespace kiln::cache {
namespace {

bool IsMissing(const Error& error) { return error.code == ErrorCode::kNotFound; }

}  // namespace

Result<Blob> ReadThroughStore::Get(const Key& key, const Call& call) {
  Result<Blob> local = local_.Get(key, call);
  if (local.ok() || !IsMissing(local.error())) {
    return local;
  }
  Result<Blob> found = GetUpstream(key, call);
  if (!found.ok()) {
    return local;  // whatever it was: a miss
  }
  // Whoever may only read is served and leaves nothing behind in the store.
  if (!call.may_write) {
    found->from_upstream = true;
    return found;
  }
  if (const Result<void> kept = Keep(key, *found, call); !kept.ok() && IsMissing(kept.error())) {
    return local;  // a hit is complete, or none (spec/cache 8.2)
  }
  found->from_upstream = true;
  return found;
}

Result<Blob> ReadThroughStore::GetUpstream(const Key& key, const Call& call) {
  if (!breaker_.Admit()) {
    return Error{.code = ErrorCode::kUnavailable,
                 .context = "the upstream does not answer",
                 .reason = std::string(kUpstreamDown)};
  }
  // An upstream must be quicker than compiling, or it is not worth waiting for; the bound is
  // independent of the caller's patience.
  const Deadline patience = clock_.Monotonic() + options_.deadline;
  const bool hurried = call.deadline < patience;
  Result<Blob> found = hedged_.Get(key, call.Until(std::min(call.deadline, patience)));
  if (found.ok() || IsMissing(found.error())) {
    breaker_.Succeeded();
    return found;
  }
  // Who leaves, or has less patience than this store, says nothing about the upstream: a few
  // hurried callers must not take it from all others.
  const bool gave_up = found.error().code == ErrorCode::kCancelled ||
                       (hurried && found.error().code == ErrorCode::kDeadlineExceeded);
  if (!gave_up) {
    breaker_.Failed();
  }
  return found;
}

// Puts what came from the upstream, after what it names. A store that does not take it costs
// another round trip, later. Errors: kNotFound if something that it names is nowhere.
Result<void> ReadThroughStore::Keep(const Key& key, const Blob& blob, const Call& call) {
  std::vector<Item> items;
  Item item{.key = key, .value = blob, .refs = {}};
  if (key.level == Level::kAlias) {
    KILN_TRY(const Hash128 signature, DecodeAlias(blob.bytes));
    // An alias is kept together with its record, through this same function, which fetches that
    // one's content in turn. The depth is two.
    KILN_TRY_VOID(Get({.level = Level::kSignature, .space = key.space, .id = signature}, call));
  } else if (key.level != Level::kContent) {
    const Result<RowSummary> summary = SummarizeRow(key.level, blob.bytes);
    if (!summary.ok()) {  // not what this kiln would write
      return Error{.code = ErrorCode::kNotFound, .context = KeyText(key) + " does not decode"};
    }
    std::vector<Key> named;
    for (const Product& product : summary->products) {
      item.refs.push_back(product.digest.id);
      named.push_back(ContentKey(product.digest));
    }
    // Content that is here already is not fetched. Asking is also a lease: it stays until the row
    // is put.
    KILN_TRY(const std::vector<Key> missing, local_.FindMissing(named, call));
    for (const Key& content : missing) {
      KILN_TRY(Blob bytes, GetUpstream(content, call));
      items.push_back({.key = content, .value = std::move(bytes), .refs = {}});
    }
  }
  items.push_back(std::move(item));
  (void)local_.Put(items, Durability::kRelaxed, call);
  return {};
}

Result<PutResult> ReadThroughStore::Put(std::span<const Item> items, Durability durability,
                                        const Call& call) {
  const bool quorum = durability == Durability::kQuorum;
  // Where nothing is sent from here, a nearer upstream may be the one that is waited for.
  const bool waits_here = quorum && options_.writes;
  Result<PutResult> stored =
      local_.Put(items, waits_here ? Durability::kDurable : durability, call);
  // Items that the store here cannot take may still be of use upstream; invalid ones are not.
  // An empty put waits for the writer here, and says nothing to anybody else.
  if (!options_.writes || items.empty() ||
      (!stored.ok() && stored.error().code == ErrorCode::kInvalidArgument)) {
    return stored;
  }
  // The journal answers as soon as the put is queued, so a slow upstream costs a build nothing;
  // only a quorum waits for it.
  const Result<PutResult> there =
      writes_.Put(items, quorum ? Durability::kQuorum : Durability::kRelaxed, call);
  if (quorum && stored.ok() && !there.ok()) {
    return Error{.code = ErrorCode::kUnavailable,
                 .context = there.error().context,
                 .reason = std::string(kUpstreamDown)};
  }
  return stored;
}

}  // namespace kiln::cache
