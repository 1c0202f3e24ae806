// SPDX-License-Identifier: MIT
// Removes records until the store is small enough, then content that nobody names, then free pages.
// Works in slices of 64 records or 20 ms between the writer's groups. See spec/cache 8.
//
// Threads: Start…, Busy from any thread, Slice on the writer thread.
#pragma once

#include <atomic>
#include <limits>
#include <set>
#include <vector>

#include "cache/collect.h"
#include "cache/leases/sent_content.h"
#include "cache/sqlite/tables/access_times.h"
#include "cache/sqlite/tables/table_writes.h"

namespace kiln::cache::sqlite {

class Collector {
 public:
  // Requires: all outlive the collector. max_age_s: records that were not used for so long go; 0:
  // none do.
  Collector(AccessTimes& access_times, SentContent& sent, Clock& clock, Counters& counters,
            int64_t max_age_s = 0)
      : access_times_(access_times),
        sent_(sent),
        clock_(clock),
        counters_(counters),
        max_age_s_(max_age_s) {}

  // Collect until the used bytes are at most the target. For some seconds after a collection that
  // found nothing more to remove, starting does nothing.
  void Start(uint64_t target_bytes);
  // Look at the next 1,000 blobs for content that no record names.
  void StartScan() { scan_ = true; }

  // Look once for records that are too old.
  void StartAgeing() { ageing_ = max_age_s_ > 0; }

  // Give every free page back to the file system.
  void StartVacuum() { vacuum_all_ = true; }
  // Ends collecting and vacuuming behind the slice that is at work.
  void Stop();
  // Whether what was started has not ended.
  bool Busy() const;

  // Whether there is more to do now. An error ends the collection; the next Start begins anew.
  bool Slice(TableWrites& writes);

 private:
  static constexpr uint64_t kNoTarget = std::numeric_limits<uint64_t>::max();
  static constexpr Candidate kBeforeAll{.record = std::numeric_limits<int64_t>::min(),
                                        .used_q = std::numeric_limits<int64_t>::min()};

  Result<bool> SliceOrError(TableWrites& writes);
  Result<bool> DropExpired(TableWrites& writes);
  // Whether the plan has candidates or still grows.
  Result<bool> GrowPlan(TableWrites& writes);
  Result<bool> NextQuantum(TableWrites& writes, int64_t floor_q);
  Result<void> ReadCandidates(TableWrites& writes, int64_t floor_q);
  Result<void> DropPlanned(TableWrites& writes);
  // Whether there was a record to look at.
  Result<bool> DropAged(TableWrites& writes);
  Result<std::vector<Candidate>> ReadAged(TableWrites& writes);
  Result<void> ScanOrphans(TableWrites& writes);
  // Those of which it is known who sent them.
  Result<void> LookAtSent(TableWrites& writes);
  // Dictionaries that no content needs and that are not used now. Requires: a whole pass ended.
  Result<void> DropUnusedDictionaries(TableWrites& writes);
  Result<bool> Vacuum(TableWrites& writes);

  AccessTimes& access_times_;
  SentContent& sent_;
  Clock& clock_;
  Counters& counters_;
  const int64_t max_age_s_;
  std::atomic<bool> ageing_{false};
  std::atomic<uint64_t> target_{kNoTarget};
  std::atomic<bool> scan_{false};
  std::atomic<bool> vacuum_all_{false};
  std::atomic<int64_t> blocked_until_ns_{0};

  // The plan: candidates of one quantum, sorted once it is complete. The writer thread's.
  std::vector<Candidate> plan_;
  size_t next_ = 0;  // of plan_, once it is sorted
  enum class Reading : uint8_t { kOthers, kModules, kDone };
  Reading reading_ = Reading::kDone;  // modules of an older quantum compete in this one
  int64_t quantum_ = -1;              // the quantum of the plan; those below are done with
  int64_t last_eid_ = 0;              // read up to here
  int64_t orphan_rid_ = 0;            // scanned up to here
  Candidate aged_ = kBeforeAll;       // the same of records that may be too old
  std::set<int64_t> dictionaries_;    // that this pass of the scan has met
};

// Marks what was touched as used. Runs inside a transaction.
Result<void> FlushAccessTimes(TableWrites& writes, AccessTimes& access_times);

}  // namespace kiln::cache::sqlite
