// SPDX-License-Identifier: MIT
#include "cache/pack/block_cache.h"

#include <utility>

namespace kiln::pack {

std::shared_ptr<const Bytes> BlockCache::Find(uint32_t block) {
  const MutexLock lock(mutex_);
  const auto place = places_.find(block);
  if (place == places_.end()) {
    return nullptr;
  }
  kept_.splice(kept_.begin(), kept_, place->second);
  return place->second->raw;
}

void BlockCache::Add(uint32_t block, std::shared_ptr<const Bytes> raw) {
  const MutexLock lock(mutex_);
  if (places_.contains(block)) {  // somebody else was quicker
    return;
  }
  bytes_ += raw->size();
  kept_.push_front({.block = block, .raw = std::move(raw)});
  places_.emplace(block, kept_.begin());
  while (kept_.size() > 1 && bytes_ > most_bytes_) {
    bytes_ -= kept_.back().raw->size();
    places_.erase(kept_.back().block);
    kept_.pop_back();
  }
}

}  // namespace kiln::pack
