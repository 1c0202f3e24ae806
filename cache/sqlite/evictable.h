// SPDX-License-Identifier: MIT
// What may be removed at all: nothing that a lease, a pin or a question of the last minutes keeps.
// Spec: cache §8.2, §8.4, §8.6
#pragma once

#include <cstdint>
#include <span>

#include "cache/collect.h"
#include "cache/sqlite/changes.h"
#include "cache/sqlite/touches.h"

namespace kiln::cache::sqlite {

// The smallest floor of the live leases; the largest number if there is none.
Result<int64_t> LeaseFloor(Connection& connection, int64_t now_s);

// Records used in this quantum or later stay: what a lease covers, and what is so young that its
// content is within the grace, so that removing the record would free nothing.
Result<int64_t> FloorQuantum(Connection& connection, int64_t now_s);
inline Result<int64_t> FloorQuantum(Changes& changes) {
  return FloorQuantum(changes.connection(), changes.NowSeconds());
}

// Whether a candidate that was read earlier may be removed now: it may have been used, pinned or
// leased since then.
Result<bool> MayGo(Changes& changes, Touches& touches, const Candidate& candidate);

// Removes what no record names, unless it is leased or within its grace.
Result<void> DropOrphans(Changes& changes, Touches& touches, std::span<const int64_t> rids);

}  // namespace kiln::cache::sqlite
