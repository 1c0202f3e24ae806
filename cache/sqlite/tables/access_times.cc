// SPDX-License-Identifier: MIT
// Bounded maps.
#include "cache/sqlite/tables/access_times.h"

#include <algorithm>
#include <utility>

namespace kiln::cache::sqlite {
namespace {

// Some ten MiB of each at most. They are written every half minute, which is enough for thousands
// of uses a second.
constexpr size_t kMaxPending = 262'144;  // a touch more may be dropped
constexpr size_t kMaxLeased = 262'144;   // more than this leases everything

}  // namespace

void AccessTimes::TouchRecord(int64_t eid, int64_t used_q) {
  const MutexLock lock(mutex_);
  // A touch that is dropped makes a record look ten minutes older than it is; losing one costs
  // nothing worse than an early eviction.
  if (pending_.records.size() < kMaxPending) {
    pending_.records[eid] = used_q;
  }
}

void AccessTimes::TouchKey(const Key& key, int64_t used_q) {
  const MutexLock lock(mutex_);
  if (pending_.keys.size() < kMaxPending) {
    pending_.keys[key] = used_q;
  }
}

// Swapped out under the mutex; writing them down happens without it.
AccessTimes::Flush AccessTimes::Take() {
  const MutexLock lock(mutex_);
  return std::exchange(pending_, {});
}

void AccessTimes::Lease(std::span<const Key> keys, int64_t now_s, int64_t until_s) {
  const MutexLock lock(mutex_);
  // Expired leases go when there is need for room, so a put does not walk the table each time.
  if (leased_.size() + keys.size() > kMaxLeased) {
    std::erase_if(leased_, [now_s](const auto& lease) { return lease.second <= now_s; });
  }
  for (const Key& key : keys) {
    if (leased_.size() >= kMaxLeased) {
      // Too many to list one by one: from here on everything counts as leased for a while. That
      // errs towards keeping, which no build notices.
      all_leased_until_s_ = std::max(all_leased_until_s_, until_s);
      return;
    }
    leased_[key] = until_s;
  }
}

bool AccessTimes::IsLeased(const Key& key, int64_t now_s) const {
  const MutexLock lock(mutex_);
  if (all_leased_until_s_ > now_s) {
    return true;
  }
  const auto found = leased_.find(key);
  return found != leased_.end() && found->second > now_s;
}

}  // namespace kiln::cache::sqlite
