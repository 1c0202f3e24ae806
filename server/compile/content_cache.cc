// SPDX-License-Identifier: MIT
#include "server/compile/content_cache.h"

namespace kiln::compile {

void ContentCache::Add(const Hash128& id) {
  const Duration until = clock_.Monotonic() + kTrusted;
  const MutexLock lock(mutex_);
  if (until_.size() >= kMaxRows) {
    until_.clear();  // it fills again with what is asked now
  }
  until_[id] = until;
}

bool ContentCache::Has(const Hash128& id) {
  const Duration now = clock_.Monotonic();
  const MutexLock lock(mutex_);
  const auto found = until_.find(id);
  return found != until_.end() && now < found->second;
}

void ContentCache::Clear() {
  const MutexLock lock(mutex_);
  until_.clear();
}

}  // namespace kiln::compile
