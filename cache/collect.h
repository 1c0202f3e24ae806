// SPDX-License-Identifier: MIT
// Which records go first when a store is too large. Pure policy; the store walks and removes.
// See spec/cache 8.2, 8.3.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/store.h"

namespace kiln::cache {

// A record that may be removed, as its store knows it.
struct Candidate {
  int64_t record = 0;  // the store's name for it
  Level level = Level::kSignature;
  int64_t used_q = 0;    // quantum of the last use
  uint64_t cost_us = 0;  // what making it again would cost
  uint64_t bytes = 0;    // of the value and of the content that it names
};

// One module image serves all variants of its source, so it counts as this much younger.
inline constexpr int64_t kModuleBonusQuanta = 4;

// The quantum that a record competes in.
int64_t EvictionQuantum(Level level, int64_t used_q);

// Sorts the candidates of one quantum: the lowest cost per byte first; ties by record, so that the
// order does not depend on how they were found.
void SortForEviction(std::vector<Candidate>& candidates);

}  // namespace kiln::cache
