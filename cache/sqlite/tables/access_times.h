// SPDX-License-Identifier: MIT
// What was used or asked for lately, kept in memory until the writer flushes it, and consulted
// before anything is evicted. See spec/cache 5.1, 8.3, 8.4.
//
// Threads: safe from any thread.
#pragma once

#include <unordered_map>
#include <vector>

#include "cache/store.h"
#include "compiler/base/mutex.h"

namespace kiln::cache::sqlite {

// Whoever asks again and again for content that no record names has it kept for so long, counted
// from when it was put, and no longer (spec/cache 8.4).
inline constexpr int64_t kUnnamedSeconds = 3600;

class AccessTimes {
 public:
  struct Flush {
    std::unordered_map<int64_t, int64_t> records;    // eid -> used_q
    std::unordered_map<Key, int64_t, KeyHash> keys;  // -> used_q
  };

  void TouchRecord(int64_t eid, int64_t used_q);
  void TouchKey(const Key& key, int64_t used_q);
  // What was touched since the last Take.
  Flush Take();

  struct KeyLease {
    Key key;
    int64_t until_s = 0;
  };
  // Keeps keys until the given times; those for which there is no room are not kept.
  void Lease(std::span<const KeyLease> leases, int64_t now_s);
  bool IsLeased(const Key& key, int64_t now_s) const;

 private:
  mutable Mutex mutex_;
  Flush pending_ KILN_GUARDED_BY(mutex_);
  std::unordered_map<Key, int64_t, KeyHash> leased_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache::sqlite
