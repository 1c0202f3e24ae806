// SPDX-License-Identifier: MIT
// Adds compression of content to a store: zstd level 3, kept if it saves a tenth. Rows are small
// and pass as they are. Spec: cache §5.3.
#pragma once

#include "cache/store.h"

namespace kiln::cache {

// Threads: see BlobStore; no state of its own.
class CompressingStore final : public BlobStore {
 public:
  // What does not decompress goes to the sink; the caller sees a miss. Requires: below and sink
  // outlive this; a CheckedStore above checks ids.
  CompressingStore(BlobStore& below, DamageSink& sink) : below_(below), sink_(sink) {}

  Result<Blob> Get(const Key& key, const Call& call) override;
  Result<Stored> Put(std::span<const Item> items, Durability durability, const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override;

 private:
  BlobStore& below_;
  DamageSink& sink_;
};

}  // namespace kiln::cache
