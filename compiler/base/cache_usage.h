// SPDX-License-Identifier: MIT
// What a cache in memory says of itself, the same for all of them: `kiln status --caches` shows the
// rows, and a bound that is reached is seen there first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kiln {

// Of one cache. A bound of 0: there is none.
struct CacheUsage {
  std::string name;
  uint64_t bytes = 0;  // held, about
  uint64_t max_bytes = 0;
  uint64_t entries = 0;
  uint64_t max_entries = 0;
  uint64_t hits = 0;  // look-ups since the process began
  uint64_t misses = 0;
};

// Threads: Usage may be called from any thread at any time.
class CountedCache {
 public:
  virtual CacheUsage Usage() = 0;

 protected:
  ~CountedCache() = default;
};

}  // namespace kiln
