// SPDX-License-Identifier: MIT
// Keeps damage reports, for tests.
#pragma once

#include <vector>

#include "cache/store.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

class RecordingSink final : public DamageSink {
 public:
  void Report(const Damage& damage) override {
    const MutexLock lock(mutex_);
    reports_.push_back(damage);
  }
  std::vector<Damage> Reports() {
    const MutexLock lock(mutex_);
    return reports_;
  }

 private:
  Mutex mutex_;
  std::vector<Damage> reports_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache
