// SPDX-License-Identifier: MIT
// How many batches a daemon remembers, and of whom: what it knows of batches -> those that go when
// another one comes, or why that one has no place. See spec/daemon 7.1, 10
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::compile {

// Each divided as cache::OwnerShares say, as the bytes that are stored of batches are.
inline constexpr size_t kMostUnfinished = 256;  // waiting, running, paused
inline constexpr size_t kMostKept = 256;        // of those that are over

struct RememberedBatch {
  std::string of;          // the principal that started it first; empty: the owner
  uint64_t bytes = 0;      // that are stored of it
  uint64_t results = 0;    // in memory
  int64_t started_ms = 0;  // Unix
  bool over = false;
};

struct BatchRoomLimits {
  uint64_t bytes = 0;    // of all batches
  uint64_t results = 0;  // of those that are over
};

// Indexes of the batches that are forgotten, so that one of `starter` with so many bytes has a
// place: the cache has their results for longer. The oldest one that is over goes first, of whoever
// has most. Errors: kResourceExhausted, QUOTA, if batches that are not over take the place.
Result<std::vector<size_t>> RoomForBatch(std::span<const RememberedBatch> known,
                                         std::string_view starter, uint64_t bytes,
                                         const BatchRoomLimits& most);

}  // namespace kiln::compile
