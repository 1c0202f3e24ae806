// SPDX-License-Identifier: MIT
// What is kept and what happens when the store below refuses. One mutex guards the map and the
// counters, and is never held while the store below is asked, so a slow disk holds up nobody who
// hits memory.
#include "cache/decorators/memory_store.h"

#include <utility>

#include "cache/record.h"

namespace kiln::cache {
namespace {

constexpr uint64_t kEntryOverhead = 224;  // row, link, slot, room to grow, control block; about

uint64_t CostOf(const Blob& blob) { return blob.bytes.size() + kEntryOverhead; }

// The items are right, but the store below cannot take anything at present.
bool BelowIsUnavailable(const Error& error) {
  return error.code == ErrorCode::kFull || error.code == ErrorCode::kBusy ||
         error.reason == kReadOnly || error.reason == kUpstreamDown;
}

}  // namespace

Error NotAtOnce() {
  return {.code = ErrorCode::kDeadlineExceeded, .context = "memory alone cannot answer this"};
}

// The size in the key is compared as well: a digest is an id and a size, and content with one id
// and another size is damaged.
std::optional<Blob> MemoryStore::Find(const Key& key, const Call& call) {
  const MutexLock lock(mutex_);
  // Peek leaves the order of use as it is: what a reader looks at must not push out what others
  // work with.
  const Blob* const found = call.may_write ? blobs_.Find(key) : blobs_.Peek(key);
  const bool is_there = found != nullptr && HasSize(key, found->raw_size);
  ++(is_there ? hits_ : misses_);
  return is_there ? std::optional(*found) : std::nullopt;
}

void MemoryStore::Remember(const Key& key, const Blob& blob) {
  // It would push out everything and not fit even then.
  if (CostOf(blob) > options_.max_bytes) {
    return;
  }
  const MutexLock lock(mutex_);
  if (const Blob* const known = blobs_.Find(key)) {
    // Masks are the only rows that may be replaced, by one that names more (spec/cache 3.4).
    if (key.level != Level::kMask || !Widens(known->bytes, blob.bytes)) {
      return;  // the first value of a key stays
    }
    blobs_.Erase(key);
  }
  // From the second time on it is a hit of memory.
  blobs_.Add(key, blob, CostOf(blob)).from_upstream = false;
  while (blobs_.cost() > options_.max_bytes) {
    blobs_.DropOldest();
  }
}

// Two threads that miss the same key ask below twice. The second answer is thrown away by Remember.
Result<Blob> MemoryStore::Get(const Key& key, const Call& call) {
  if (std::optional<Blob> found = Find(key, call)) {
    return *std::move(found);
  }
  if (below_ == nullptr) {
    return Error{.code = ErrorCode::kNotFound, .context = KeyText(key)};
  }
  // The caller only wants what needs no wait, for example before it joins a queue.
  if (call.deadline == kAtOnce) {
    return NotAtOnce();
  }
  KILN_TRY(Blob blob, below_->Get(key, call));
  if (call.may_write) {
    Remember(key, blob);
  }
  return blob;
}

void MemoryStore::RememberAll(std::span<const Item> items) {
  for (const Item& item : items) {
    Remember(item.key, item.value);
  }
}

Result<PutResult> MemoryStore::Put(std::span<const Item> items, Durability durability,
                                   const Call& call) {
  if (below_ == nullptr) {
    RememberAll(items);
    return PutResult{.added = items.size()};
  }
  Result<PutResult> stored = below_->Put(items, durability, call);
  // Memory keeps what the store kept, or would keep if it could. After a conflict the first value
  // counts, and this may be the other one.
  if (stored.ok() ? stored->nondeterminism == 0 : BelowIsUnavailable(stored.error())) {
    RememberAll(items);
  }
  return stored;
}

Result<std::vector<Key>> MemoryStore::FindMissing(std::span<const Key> keys, const Call& call) {
  if (below_ != nullptr) {
    // The store below is asked even for keys that memory holds: its answer is also a lease.
    return below_->FindMissing(keys, call);
  }
  std::vector<Key> missing;
  for (const Key& key : keys) {
    if (!Find(key, call).has_value()) {
      missing.push_back(key);
    }
  }
  return missing;
}

void MemoryStore::Touch(std::span<const Key> keys) {
  if (below_ != nullptr) {
    below_->Touch(keys);
  }
}

void MemoryStore::Report(const Damage& damage) {
  {
    const MutexLock lock(mutex_);
    // Whatever is wrong below may have been read into memory before it was noticed.
    blobs_.Erase(damage.key);
  }
  if (damage_below_ != nullptr) {
    damage_below_->Report(damage);
  }
}

void MemoryStore::Clear() {
  const MutexLock lock(mutex_);
  blobs_.Clear();
}

// Of this process since its start; the numbers are not kept over a restart.
CacheUsage MemoryStore::Usage() {
  const MutexLock lock(mutex_);
  return {.name = "blobs and rows",
          .bytes = blobs_.cost(),
          .max_bytes = options_.max_bytes,
          .entries = blobs_.size(),
          .hits = hits_,
          .misses = misses_};
}

uint64_t MemoryStore::bytes() const {
  const MutexLock lock(mutex_);
  return blobs_.cost();
}

}  // namespace kiln::cache
