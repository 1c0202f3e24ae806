// SPDX-License-Identifier: MIT
#include "server/build/kept_content.h"

namespace kiln::build {

void KeptContent::Add(const Hash128& id) {
  const Duration until = clock_.Monotonic() + kTrusted;
  const MutexLock lock(mutex_);
  if (until_.size() >= kMaxRows) {
    until_.clear();  // it fills again with what is asked now
  }
  until_[id] = until;
}

bool KeptContent::Has(const Hash128& id) {
  const Duration now = clock_.Monotonic();
  const MutexLock lock(mutex_);
  const auto found = until_.find(id);
  return found != until_.end() && now < found->second;
}

void KeptContent::Clear() {
  const MutexLock lock(mutex_);
  until_.clear();
}

}  // namespace kiln::build
