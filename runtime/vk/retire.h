// SPDX-License-Identifier: MIT
// Objects that the device may still be using: kept until the timeline has passed the value of their
// last use, then destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/base/mutex.h"

namespace kiln::vk {

// Safe from any thread; objects are destroyed by the thread that collects, outside the lock.
// Whoever destroys it has waited for the device.
class Retire {
 public:
  // The object was used last by the submission with this timeline value.
  template <class T>
  void Add(uint64_t value, T object) {
    const MutexLock lock(mutex_);
    kept_.push_back({value, std::make_shared<T>(std::move(object))});
  }

  // Destroys what was used last at or before `completed`, in the order in which it was added.
  // Returns how many.
  size_t Collect(uint64_t completed);

  size_t size();

 private:
  struct RetiredObject {
    uint64_t value;
    std::shared_ptr<void> object;
  };

  Mutex mutex_;
  std::vector<RetiredObject> kept_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::vk
