// SPDX-License-Identifier: MIT
// Adds verification to a store: recomputes the sum of content or of a row on every Get and Put,
// memory hits included (0.5 µs per 16 KiB), and refuses what a call puts that may not write. Ids
// are computed where content is made or comes from outside. See spec/cache 2.1, 5.3, 6.6, promise
// P1.
#pragma once

#include "cache/store.h"

namespace kiln::cache {

// Threads: see BlobStore; no state of its own.
class CheckedStore final : public BlobStore {
 public:
  // Damage found on Get goes to the sink, which knows how to drop it; the caller sees a miss.
  // Requires: below and sink outlive this.
  CheckedStore(BlobStore& below, DamageSink& sink) : below_(below), sink_(sink) {}

  Result<Blob> Get(const Key& key, const Call& call) override;
  // Errors: kInvalidArgument, naming the first item that is not what its sum says;
  // kFailedPrecondition with reason READ_ONLY if the call may not write.
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override;

 private:
  BlobStore& below_;
  DamageSink& sink_;
};

// Nullopt if the blob is what the key says; else what does not hold.
std::optional<std::string> FindMismatch(const Key& key, const Blob& blob);

}  // namespace kiln::cache
