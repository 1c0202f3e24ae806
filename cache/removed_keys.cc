// SPDX-License-Identifier: MIT
#include "cache/removed_keys.h"

namespace kiln::cache {

void RemovedKeys::Add(const Hash128& key, const Removal& removal) {
  const MutexLock lock(mutex_);
  ++count_;
  // A key that is removed again keeps its place in the order and gets the newer reason.
  if (removals_.insert_or_assign(key, removal).second) {
    order_.push_back(key);
  }
  // The memory serves explanations only. Beyond its bound the oldest removals are forgotten, and a
  // miss then says "evicted" without a reason.
  if (order_.size() > capacity_) {
    removals_.erase(order_.front());
    order_.pop_front();
  }
}

std::optional<Removal> RemovedKeys::Find(const Hash128& key) const {
  const MutexLock lock(mutex_);
  const auto found = removals_.find(key);
  return found == removals_.end() ? std::nullopt : std::optional(found->second);
}

uint64_t RemovedKeys::count() const {
  const MutexLock lock(mutex_);
  return count_;
}

}  // namespace kiln::cache
