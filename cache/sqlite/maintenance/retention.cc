// SPDX-License-Identifier: MIT
#include "cache/sqlite/maintenance/retention.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace kiln::cache::sqlite {

// The strictest of all leases that hold: a record that was used in or after its quantum stays.
// Without any the floor is beyond every quantum.
Result<int64_t> LeaseFloor(Connection& connection, int64_t now_s) {
  KILN_TRY(Statement statement,
           connection.Prepare("SELECT min(floor_q) FROM lease WHERE until_s>?1"));
  Query query(statement);
  query.Bind(now_s);
  KILN_TRY(const bool found, query.Next());
  return found && !query.IsNull(0) ? query.Int(0) : std::numeric_limits<int64_t>::max();
}

// What was used within the grace is never evicted: a build that has just found it still needs it
// (spec/cache 8.4).
Result<int64_t> FloorQuantum(Connection& connection, int64_t now_s) {
  KILN_TRY(const int64_t floor_q, LeaseFloor(connection, now_s));
  return std::min(floor_q, now_s / kQuantumSeconds - kGraceSeconds / kQuantumSeconds);
}

namespace {

// A record that no pin keeps, as it is now.
struct UnpinnedRecord {
  int64_t used_q = 0;
  Key key;
};

Result<std::optional<UnpinnedRecord>> FindUnpinned(TableWrites& writes, int64_t eid) {
  KILN_TRY(Statement statement,
           writes.connection().Prepare(
               "SELECT used_q, space, level, key FROM entry WHERE eid=?1 AND NOT EXISTS"
               " (SELECT 1 FROM pin_entry AS p JOIN pin USING (pin) WHERE p.eid=entry.eid"
               "  AND (pin.until_s IS NULL OR pin.until_s>?2))"));
  Query query(statement);
  query.Bind(eid).Bind(writes.NowSeconds());
  KILN_TRY(const bool found, query.Next());
  if (!found) {
    return std::optional<UnpinnedRecord>();
  }
  return std::optional(UnpinnedRecord{.used_q = query.Int(0),
                                      .key = {.level = static_cast<Level>(query.Int(2)),
                                              .space = static_cast<uint32_t>(query.Int(1)),
                                              .id = query.Id(3).value_or(Hash128{})}});
}

}  // namespace

// Looked up anew, in the transaction that would remove it: used since then, pinned or leased, it
// stays.
Result<bool> MayGo(TableWrites& writes, AccessTimes& access_times, const Candidate& candidate) {
  KILN_TRY(const std::optional<UnpinnedRecord> found, FindUnpinned(writes, candidate.record));
  return found.has_value() && found->used_q <= candidate.used_q &&
         !access_times.IsLeased(found->key, writes.NowSeconds());
}

// Failures are not asked for their age or a lease, but a pin keeps whatever it names.
Result<bool> MayBeForgotten(TableWrites& writes, const Candidate& candidate) {
  KILN_TRY(const std::optional<UnpinnedRecord> found, FindUnpinned(writes, candidate.record));
  return found.has_value();
}

// Content that somebody was told is there, a moment ago, is kept for the record that will name it.
// See spec/cache 8.4
Result<void> DropOrphans(TableWrites& writes, AccessTimes& access_times,
                         std::span<const int64_t> rids) {
  const int64_t now_s = writes.NowSeconds();
  return writes.removals().DropOrphans(rids, [&access_times, now_s](const Hash128& id) {
    return access_times.IsLeased({.level = Level::kContent, .id = id}, now_s);
  });
}

}  // namespace kiln::cache::sqlite
