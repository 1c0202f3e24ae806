// SPDX-License-Identifier: MIT
// Adds uploads to a store: what a principal sends counts for him, and what was acknowledged is
// there. Content that the store below cannot take for now is held here, in memory, divided between
// principals; what finds no room is refused. See spec/cache 5.3, 8.4
//
// Threads: see BlobStore; one mutex, held for look-ups and moves only.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/leases/content_room.h"
#include "cache/leases/sent_content.h"
#include "cache/store.h"
#include "compiler/base/cache_usage.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

class UploadStore final : public BlobStore, public CountedCache {
 public:
  static constexpr uint64_t kMostHeld = uint64_t{64} << 20;
  // What was held for so long makes room for more of the same principal.
  static constexpr int64_t kYoungSeconds = 600;

  // room: of the store below; null: that has no file, so all content is held here.
  // Requires: all outlive this.
  UploadStore(BlobStore& below, ContentRoom* room, Clock& clock, uint64_t most_held = kMostHeld)
      : below_(below), room_(room), clock_(clock), sent_(most_held, kYoungSeconds) {}

  // Where acknowledged content may be.
  enum class Place : uint8_t { kStore, kMemoryToo };

  // Content that `owner` sends, by its digests. Gives how many were not there. Errors: kFull with
  // CACHE_FULL if there is no room for it; as Put.
  Result<uint64_t> Upload(std::string_view owner, std::span<const Item> contents, Place place,
                          const Call& call);

  Result<Blob> Get(const Key& key, const Call& call) override;
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override {
    return below_.Put(items, durability, call);
  }
  // What is held here is not missing.
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override { below_.Touch(keys); }

  CacheUsage Usage() override;

 private:
  Result<void> Store(std::string_view owner, std::span<const Item> contents, const Call& call);
  Result<void> Hold(std::string_view owner, std::span<const Item> contents);
  void Drop(const Hash128& id) KILN_REQUIRES(mutex_);
  std::optional<Blob> Held(const Key& key) const;

  BlobStore& below_;
  ContentRoom* const room_;
  Clock& clock_;
  mutable Mutex mutex_;
  SentContent sent_;
  std::unordered_map<Hash128, Blob, Hash128Hash> held_ KILN_GUARDED_BY(mutex_);
  std::atomic<bool> holds_any_{false};  // so that reads need no lock while nothing is held
};

}  // namespace kiln::cache
