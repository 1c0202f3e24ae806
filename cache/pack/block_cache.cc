// SPDX-License-Identifier: MIT
#include "cache/pack/block_cache.h"

#include <utility>

namespace kiln::pack {

std::shared_ptr<const Bytes> BlockCache::Find(uint32_t block) {
  const MutexLock lock(mutex_);
  const std::shared_ptr<const Bytes>* const found = blocks_.Find(block);
  return found == nullptr ? nullptr : *found;
}

void BlockCache::Add(uint32_t block, std::shared_ptr<const Bytes> raw) {
  const uint64_t bytes = raw->size();
  const MutexLock lock(mutex_);
  if (blocks_.Find(block) != nullptr) {  // somebody else was quicker
    return;
  }
  blocks_.Add(block, std::move(raw), bytes);
  while (blocks_.size() > 1 && blocks_.cost() > most_bytes_) {
    blocks_.DropOldest();
  }
}

}  // namespace kiln::pack
