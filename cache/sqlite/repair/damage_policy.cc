// SPDX-License-Identifier: MIT
// Three events within the window.
#include "cache/sqlite/repair/damage_policy.h"

#include "cache/sqlite/connection.h"

namespace kiln::cache::sqlite {
namespace {

// Once may be a cosmic ray or a cable, and is checked; three times within the window is a file that
// cannot be used.
constexpr size_t kStrikes = 3;
constexpr Duration kCorruptWindow = std::chrono::minutes(10);
constexpr Duration kIoWindow = std::chrono::minutes(1);

// Whether this event is the third one within the window.
bool Strike(std::deque<Duration>& events, Duration now, Duration window) {
  events.push_back(now);
  while (now - events.front() > window) {
    events.pop_front();
  }
  return events.size() >= kStrikes;
}

}  // namespace

DamagePolicy::Verdict DamagePolicy::Judge(const Error& error) {
  const MutexLock lock(mutex_);
  const Duration now = clock_.Monotonic();
  if (error.reason == kDamagedFile || error.reason == kNotADatabase) {
    return Strike(corrupt_, now, kCorruptWindow) ? Verdict::kReplace : Verdict::kCheck;
  }
  // A disk that fails to read is not salvaged from: that would read all of it. The file is put
  // aside and an empty one begun.
  if (error.reason == kIoError) {
    return Strike(io_, now, kIoWindow) ? Verdict::kReplaceUnsalvaged : Verdict::kNothing;
  }
  return Verdict::kNothing;
}

void DamagePolicy::Reset() {
  const MutexLock lock(mutex_);
  corrupt_.clear();
  io_.clear();
}

}  // namespace kiln::cache::sqlite
