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
constexpr size_t kMaxLeased = 262'144;   // what is asked for beyond it goes with its grace

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

// A full table takes no more: to count everything as leased instead would have whoever asks for
// many keys keep the whole store. What is lost for want of a lease is sent or made again.
void AccessTimes::Lease(std::span<const KeyLease> leases, int64_t now_s) {
  const MutexLock lock(mutex_);
  // Expired leases go when there is need for room, so a put does not walk the table each time.
  if (leased_.size() + leases.size() > kMaxLeased) {
    std::erase_if(leased_, [now_s](const auto& lease) { return lease.second <= now_s; });
  }
  for (const KeyLease& lease : leases) {
    const auto known = leased_.find(lease.key);
    if (known != leased_.end()) {
      known->second = std::max(known->second, lease.until_s);
    } else if (lease.until_s > now_s && leased_.size() < kMaxLeased) {
      leased_.emplace(lease.key, lease.until_s);
    }
  }
}

bool AccessTimes::IsLeased(const Key& key, int64_t now_s) const {
  const MutexLock lock(mutex_);
  const auto found = leased_.find(key);
  return found != leased_.end() && found->second > now_s;
}

}  // namespace kiln::cache::sqlite
