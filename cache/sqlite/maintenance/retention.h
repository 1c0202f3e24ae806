// SPDX-License-Identifier: MIT
// What may be removed at all: nothing that a lease, a pin or a question of the last minutes keeps.
// See spec/cache 8.2, 8.4, 8.6
#pragma once

#include <cstdint>
#include <span>

#include "cache/collect.h"
#include "cache/sqlite/tables/access_times.h"
#include "cache/sqlite/tables/table_writes.h"

namespace kiln::cache::sqlite {

// The smallest floor of the live leases; the largest number if there is none.
Result<int64_t> LeaseFloor(Connection& connection, int64_t now_s);

// Records used in this quantum or later stay: what a lease covers, and what is so young that its
// content is within the grace, so that removing the record would free nothing.
Result<int64_t> FloorQuantum(Connection& connection, int64_t now_s);
inline Result<int64_t> FloorQuantum(TableWrites& writes) {
  return FloorQuantum(writes.connection(), writes.NowSeconds());
}

// Whether a candidate that was read earlier may be removed now: it may have been used, pinned or
// leased since then.
Result<bool> MayGo(TableWrites& writes, AccessTimes& access_times, const Candidate& candidate);
// The same for a failure that somebody wants forgotten: only a pin keeps it.
Result<bool> MayBeForgotten(TableWrites& writes, const Candidate& candidate);

// Removes what no record names, unless it is leased or within its grace.
Result<void> DropOrphans(TableWrites& writes, AccessTimes& access_times,
                         std::span<const int64_t> rids);

}  // namespace kiln::cache::sqlite
