// SPDX-License-Identifier: MIT
// What a store counts and what it remembers of the past. Readers, the writer and metrics share it
// without a lock of their own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "cache/removed_keys.h"
#include "cache/sqlite/session/absence_filter.h"
#include "cache/store.h"

namespace kiln::cache::sqlite {

struct Counters {
  using Counter = std::atomic<uint64_t>;
  std::array<Counter, kDamageKindCount> damage{};  // kiln_cache_corrupt_total
  Counter collisions{0};                           // kiln_cache_collision_total
  Counter nondeterminism{0};                       // kiln_cache_nondeterminism_total
  Counter groups{0};                               // commits
  Counter changes{0};  // of the file: groups, and slices of background work
  Counter grouped_requests{0};
  Counter commit_us{0};
  Counter refused_full{0};
  Counter evicted{0};
  Counter aged{0};  // removed because nobody used them for too long
  std::atomic<int64_t> wal_bytes{0};
  std::atomic<uint64_t> used_bytes{0};
  std::atomic<uint64_t> waiting_bytes{0};  // of puts that are not written yet
  RemovedKeys removed;                     // records, by key
  AbsenceFilter absence;                   // which of them are not there
};

}  // namespace kiln::cache::sqlite
