// SPDX-License-Identifier: MIT
// For tests: a store whose keys of some levels seem lost to whoever reads.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "cache/store.h"

namespace kiln::cache {

class HidingStore final : public BlobStore {
 public:
  explicit HidingStore(BlobStore& below) : below_(below) {}

  Result<Blob> Get(const Key& key, const Call& call) override {
    return levels.contains(key.level)
               ? Result<Blob>(Error{.code = ErrorCode::kNotFound, .context = "hidden"})
               : below_.Get(key, call);
  }
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override {
    return below_.Put(items, durability, call);
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const Key> keys) override { below_.Touch(keys); }

  std::set<Level> levels;

 private:
  BlobStore& below_;
};

}  // namespace kiln::cache
