// SPDX-License-Identifier: MIT
// Adds a size bound to a store: above the high watermark it starts collection, at the bound it
// gives up content that no record names, and if that makes no room refuses puts. Gets are never
// refused. See spec/cache 5.3, 8.1, 6.10.
#pragma once

#include "cache/store.h"

namespace kiln::cache {

// The store that the bound is about. Safe from any thread; cheap: asked on every Put.
class Collectable {
 public:
  virtual ~Collectable() = default;
  virtual uint64_t UsedBytes() const = 0;
  virtual uint64_t FreeDiskBytes() const = 0;
  // Starts removing records in the background until UsedBytes is at most the target. Asking again
  // while it runs only changes the target.
  virtual void StartCollecting(uint64_t target_bytes) = 0;
  // Removes content that no record names, of whoever sent most of it, until UsedBytes is at most
  // the target or there is no more of it. Returns when it is done.
  virtual void MakeRoom(uint64_t target_bytes, const Call& call) = 0;
};

// Threads: see BlobStore; no state of its own.
class LimitedStore final : public BlobStore {
 public:
  struct Options {
    uint64_t max_bytes = uint64_t{20} << 30;
    uint64_t min_free_bytes = uint64_t{2} << 30;  // of the file system
    uint32_t high_percent = 95;
    uint32_t low_percent = 85;
  };

  // Requires: below and collectable outlive this.
  LimitedStore(BlobStore& below, Collectable& collectable, const Options& options)
      : below_(below), collectable_(collectable), options_(options) {}

  // Whether puts are refused, unless content that no record names makes room.
  bool IsFull() const { return collectable_.UsedBytes() >= options_.max_bytes; }

  Result<Blob> Get(const Key& key, const Call& call) override { return below_.Get(key, call); }
  // Errors: kFull at the bound.
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const Key> keys) override { below_.Touch(keys); }

 private:
  BlobStore& below_;
  Collectable& collectable_;
  const Options options_;
};

}  // namespace kiln::cache
