// SPDX-License-Identifier: MIT
// A store that tells a test what is asked of it: the test does something in the middle of work.
#pragma once

#include <functional>

#include "cache/store.h"

namespace kiln::compile {

class CallingStore final : public cache::BlobStore {
 public:
  explicit CallingStore(cache::BlobStore& below) : below_(below) {}
  Result<cache::Blob> Get(const cache::Key& key, const cache::Call& call) override {
    if (on_get != nullptr) {
      on_get(key);
    }
    return below_.Get(key, call);
  }
  Result<cache::PutResult> Put(std::span<const cache::Item> items, cache::Durability durability,
                               const cache::Call& call) override {
    return below_.Put(items, durability, call);
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key> keys,
                                              const cache::Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const cache::Key> keys) override { below_.Touch(keys); }

  // Set before the store is used.
  std::function<void(const cache::Key&)> on_get;

 private:
  cache::BlobStore& below_;
};

}  // namespace kiln::compile
