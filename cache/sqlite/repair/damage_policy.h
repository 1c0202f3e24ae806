// SPDX-License-Identifier: MIT
// Decides when a database file has shown enough damage to be given up. See spec/cache 6.7.
//
// Threads: safe from any thread.
#pragma once

#include <deque>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"

namespace kiln::cache::sqlite {

class DamagePolicy {
 public:
  enum class Verdict : uint8_t {
    kNothing,
    kCheck,             // run quick_check in the background
    kReplace,           // set the file aside, salvage what verifies
    kReplaceUnsalvaged  // the disk itself fails: set the file aside, leave it alone
  };

  explicit DamagePolicy(Clock& clock) : clock_(clock) {}

  // What to do about a failed call. Errors that are no damage and no I/O error give kNothing.
  Verdict Judge(const Error& error);
  // The file is another one now.
  void Reset();

 private:
  Clock& clock_;
  Mutex mutex_;
  std::deque<Duration> corrupt_ KILN_GUARDED_BY(mutex_);
  std::deque<Duration> io_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache::sqlite
