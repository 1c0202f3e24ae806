// SPDX-License-Identifier: MIT
#include "runtime/vk/retire.h"

#include <algorithm>

namespace kiln::vk {

// Objects are destroyed outside of the lock: a driver may take its time, and other threads add
// meanwhile. Stable, so those that stay keep their order.
size_t Retire::Collect(uint64_t completed) {
  std::vector<RetiredObject> done;
  {
    const MutexLock lock(mutex_);
    const auto first_done =
        std::stable_partition(kept_.begin(), kept_.end(),
                              [&](const RetiredObject& kept) { return kept.value > completed; });
    done.assign(std::make_move_iterator(first_done), std::make_move_iterator(kept_.end()));
    kept_.erase(first_done, kept_.end());
  }
  for (RetiredObject& kept : done) {
    kept.object.reset();
  }
  return done.size();
}

size_t Retire::size() {
  const MutexLock lock(mutex_);
  return kept_.size();
}

}  // namespace kiln::vk
