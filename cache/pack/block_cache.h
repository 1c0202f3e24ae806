// SPDX-License-Identifier: MIT
// What was made of blocks, by block: the last used ones, bounded in bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "compiler/base/lru_map.h"
#include "compiler/base/mutex.h"

namespace kiln::pack {

// Threads: safe from any thread.
template <class T>
class BlockCache {
 public:
  explicit BlockCache(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Null if it is not there.
  std::shared_ptr<const T> Find(uint32_t block) {
    const MutexLock lock(mutex_);
    const std::shared_ptr<const T>* const found = blocks_.Find(block);
    return found == nullptr ? nullptr : *found;
  }

  // The newest stays even if it is larger than all may be.
  void Add(uint32_t block, std::shared_ptr<const T> made, uint64_t bytes) {
    const MutexLock lock(mutex_);
    if (blocks_.Find(block) != nullptr) {  // somebody else was quicker
      return;
    }
    blocks_.Add(block, std::move(made), bytes);
    while (blocks_.size() > 1 && blocks_.cost() > most_bytes_) {
      blocks_.DropOldest();
    }
  }

 private:
  const uint64_t most_bytes_;
  Mutex mutex_;
  LruMap<uint32_t, std::shared_ptr<const T>> blocks_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::pack
