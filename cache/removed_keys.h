// SPDX-License-Identifier: MIT
// The last keys that a store removed, so that a miss can say that its result was there once, when
// it went and why. In memory: what an earlier process removed is forgotten. See spec/cache 11.3
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "compiler/base/digest.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

inline constexpr size_t kRemovedKeys = 65'536;

enum class RemovedBy : uint8_t {
  kCollection,  // to make room, or because somebody asked for it
  kExpiry,      // a remembered failure grew too old
  kDamage,
};

struct Removal {
  RemovedBy by = RemovedBy::kCollection;
  int64_t at_s = 0;  // Unix

  friend bool operator==(const Removal&, const Removal&) = default;
};

// Threads: safe from any thread; one mutex, held for O(1).
class RemovedKeys {
 public:
  explicit RemovedKeys(size_t capacity = kRemovedKeys) : capacity_(capacity) {}

  void Add(const Hash128& key, const Removal& removal);
  // The latest removal of the key.
  std::optional<Removal> Find(const Hash128& key) const;
  // How many were added so far; never decreases.
  uint64_t count() const;

 private:
  const size_t capacity_;
  mutable Mutex mutex_;
  uint64_t count_ KILN_GUARDED_BY(mutex_) = 0;
  std::deque<Hash128> order_ KILN_GUARDED_BY(mutex_);  // oldest first; each key once
  std::unordered_map<Hash128, Removal, Hash128Hash> removals_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache
