// SPDX-License-Identifier: MIT
// Waiting on a condition variable for as long as a Call allows.
//   const StopWakes wakes(call.stop, mutex_, changed_);
//   const MutexLock lock(mutex_);
//   while (!done_) { KILN_TRY_VOID(WaitOnce(changed_, mutex_, clock_, call)); }
#pragma once

#include <stop_token>

#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

// As long as it lives, a stop request wakes everyone who waits on `changed`. Made before the mutex
// is taken, because the request may come at once.
class StopWakes {
 public:
  StopWakes(const std::stop_token& stop, Mutex& mutex, CondVar& changed)
      : on_stop_(stop, Wake{mutex, changed}) {}

 private:
  struct Wake {
    Mutex& mutex;
    CondVar& changed;
    // The lock makes sure that a waiter is either before its check or already asleep.
    void operator()() const {
      const MutexLock lock(mutex);
      changed.NotifyAll();
    }
  };
  std::stop_callback<Wake> on_stop_;
};

// Waits until woken or for some time; the caller checks its condition again. Errors: kCancelled,
// kDeadlineExceeded, without having waited.
Result<void> WaitOnce(CondVar& changed, Mutex& mutex, Clock& clock, const Call& call)
    KILN_REQUIRES(mutex);

}  // namespace kiln::cache
