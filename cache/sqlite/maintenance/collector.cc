// SPDX-License-Identifier: MIT
// Eviction in slices.
#include "cache/sqlite/maintenance/collector.h"

#include <algorithm>

#include "cache/sqlite/database.h"
#include "cache/sqlite/maintenance/retention.h"
#include "cache/sqlite/transaction.h"

namespace kiln::cache::sqlite {
namespace {

// A slice is one transaction between groups of puts. 20 ms is what a put may wait for it.
constexpr size_t kSliceRecords = 64;
constexpr Duration kSliceTime = std::chrono::milliseconds(20);
constexpr int64_t kReadRows = 512;
// A plan is in memory: 65,536 candidates are a few MiB. A quantum with more records is evicted in
// several plans, which makes the order a little less exact.
constexpr size_t kMaxPlan = 65'536;
constexpr int64_t kScanRows = 1000;
constexpr size_t kSentAtOnce = 4096;  // some 10 ms of look-ups
constexpr int64_t kVacuumPages = 256;
constexpr Duration kBlockedPause = std::chrono::seconds(10);

}  // namespace

Result<void> FlushAccessTimes(TableWrites& writes, AccessTimes& access_times) {
  const AccessTimes::Flush flush = access_times.Take();
  for (const auto& [eid, used_q] : flush.records) {
    KILN_TRY_VOID(writes.MarkUsed(eid, used_q));
  }
  for (const auto& [key, used_q] : flush.keys) {
    KILN_TRY_VOID(writes.MarkUsed(key, used_q));
  }
  return {};
}

void Collector::Start(uint64_t target_bytes) {
  // After a run in which nothing more may go, another one would walk over the same records; puts
  // that meet a full cache do not start it again at once.
  if (clock_.Monotonic().count() >= blocked_until_ns_) {
    target_ = target_bytes;
  }
}

// A failed slice ends the work at hand: what was wrong is told by the next put or read, and the
// next run begins anew.
bool Collector::Slice(TableWrites& writes) {
  const Result<bool> more = SliceOrError(writes);
  if (!more.ok()) {
    target_ = kNoTarget;
    ageing_ = false;
    aged_ = kBeforeAll;
    scan_ = false;
    vacuum_all_ = false;
    return false;
  }
  return *more;
}

// One kind of work for each slice, by urgency: room that is missing, age, orphans, pages. True
// means that there is more to do. Slices are short, since puts wait while one runs.
Result<bool> Collector::SliceOrError(TableWrites& writes) {
  if (target_ != kNoTarget) {
    KILN_TRY(const bool expired, DropExpired(writes));
    if (expired) {
      return true;
    }
    if (counters_.used_bytes > target_) {
      KILN_TRY(const bool planned, GrowPlan(writes));
      if (planned) {
        KILN_TRY_VOID(DropPlanned(writes));
        return true;
      }
      blocked_until_ns_ = (clock_.Monotonic() + kBlockedPause).count();
    }
    target_ = kNoTarget;
    plan_.clear();
    next_ = 0;
    reading_ = Reading::kDone;
    quantum_ = -1;
    return true;
  }
  if (ageing_) {
    KILN_TRY(ageing_, DropAged(writes));
    aged_ = ageing_ ? aged_ : kBeforeAll;
    return true;
  }
  if (scan_.exchange(false)) {
    KILN_TRY_VOID(LookAtSent(writes));
    KILN_TRY_VOID(ScanOrphans(writes));
    return true;
  }
  return Vacuum(writes);
}

void Collector::Stop() {
  vacuum_all_ = false;
  if (target_ != kNoTarget) {
    target_ = kNoTarget - 1;  // which is reached: the writer forgets its plan
  }
}

bool Collector::Busy() const { return target_ != kNoTarget || ageing_ || vacuum_all_; }

// Expired poison goes first, whatever its age of use: nobody can be served by it any more. See
// spec/cache 8.3
Result<bool> Collector::DropExpired(TableWrites& writes) {
  std::vector<int64_t> eids;
  {
    KILN_TRY(Statement statement,
             writes.connection().Prepare("SELECT eid FROM entry WHERE expires_s<=?1 LIMIT 64"));
    Query query(statement);
    query.Bind(writes.NowSeconds());
    for (;;) {
      KILN_TRY(const bool found, query.Next());
      if (!found) {
        break;
      }
      eids.push_back(query.Int(0));
    }
  }
  if (eids.empty()) {
    return false;
  }
  KILN_TRY(Transaction transaction, Transaction::Begin(writes.connection()));
  for (const int64_t eid : eids) {
    // The content is asked for before the record goes, because the references go with it.
    KILN_TRY(const std::vector<int64_t> rids, writes.removals().RefsOf(eid));
    KILN_TRY_VOID(writes.removals().DropRecord(eid, RemovedBy::kExpiry));
    KILN_TRY_VOID(DropOrphans(writes, access_times_, rids));
    ++counters_.evicted;
  }
  KILN_TRY_VOID(transaction.Commit());
  return true;
}

// The next records that nobody used for too long and that no lease covers, the oldest first.
Result<std::vector<Candidate>> Collector::ReadAged(TableWrites& writes) {
  const int64_t now_s = writes.NowSeconds();
  KILN_TRY(const int64_t floor_q, LeaseFloor(writes.connection(), now_s));
  KILN_TRY(Statement statement,
           writes.connection().Prepare("SELECT eid, used_q FROM entry WHERE (used_q, eid)>(?1, ?2)"
                                       " AND used_q<?3 ORDER BY used_q, eid LIMIT ?4"));
  Query query(statement);
  query.Bind(aged_.used_q).Bind(aged_.record);
  query.Bind(std::min(floor_q, (now_s - max_age_s_) / kQuantumSeconds));
  query.Bind(static_cast<int64_t>(kSliceRecords));
  std::vector<Candidate> found;
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    found.push_back({.record = row.Int(0), .used_q = row.Int(1)});
  }));
  return found;
}

// Records that are pinned, or were used since they were read, stay; this pass skips them.
Result<bool> Collector::DropAged(TableWrites& writes) {
  KILN_TRY(const std::vector<Candidate> aged, ReadAged(writes));
  if (aged.empty()) {
    return false;
  }
  const Duration start = clock_.Monotonic();
  KILN_TRY(Transaction transaction, Transaction::Begin(writes.connection()));
  KILN_TRY_VOID(FlushAccessTimes(writes, access_times_));
  // Where the walk goes on, also over records that may not go: those that a lease keeps must not be
  // read again and again.
  Candidate last = aged_;
  uint64_t dropped = 0;
  for (const Candidate& candidate : aged) {
    last = candidate;
    KILN_TRY(const bool may_go, MayGo(writes, access_times_, candidate));
    if (may_go) {
      KILN_TRY(const std::vector<int64_t> rids, writes.removals().RefsOf(candidate.record));
      KILN_TRY_VOID(writes.removals().DropRecord(candidate.record, RemovedBy::kExpiry));
      KILN_TRY_VOID(DropOrphans(writes, access_times_, rids));
      ++dropped;
    }
    if (clock_.Monotonic() - start > kSliceTime) {
      break;
    }
  }
  KILN_TRY_VOID(transaction.Commit());
  // Only now, when the transaction is through: a slice that failed begins at the same place again.
  aged_ = last;
  counters_.aged += dropped;
  return true;
}

// Moves to the next quantum that may have records. False: there is none below the floor.
Result<bool> Collector::NextQuantum(TableWrites& writes, int64_t floor_q) {
  KILN_TRY(Statement statement,
           writes.connection().Prepare("SELECT min(used_q) FROM entry WHERE used_q>?1"));
  Query query(statement);
  query.Bind(quantum_ - kModuleBonusQuanta);  // modules of that age are still ahead
  KILN_TRY(const bool found, query.Next());
  if (!found || query.IsNull(0)) {
    return false;
  }
  // Jumps over quanta without records. Modules count as used later than they were, so the quantum
  // of modules lags behind by the bonus, and the walk ends that much later.
  quantum_ = std::max(quantum_ + 1, query.Int(0));
  last_eid_ = 0;
  plan_.clear();
  next_ = 0;
  reading_ = Reading::kOthers;
  return quantum_ < floor_q + kModuleBonusQuanta;
}

// Reads one page of the plan for each slice, so that a quantum with millions of records holds up
// nobody. True: there is something to read or to drop.
Result<bool> Collector::GrowPlan(TableWrites& writes) {
  KILN_TRY(const int64_t floor_q, FloorQuantum(writes));
  if (reading_ == Reading::kDone && next_ >= plan_.size()) {
    KILN_TRY(const bool found, NextQuantum(writes, floor_q));
    if (!found) {
      return false;
    }
  }
  if (reading_ != Reading::kDone) {
    KILN_TRY_VOID(ReadCandidates(writes, floor_q));
  }
  return true;
}

Result<void> Collector::ReadCandidates(TableWrites& writes, int64_t floor_q) {
  // Reads one quantum in pages: records first, then the modules that count as of this quantum. When
  // both are read the plan is sorted by worth. The share of a block counts for a content that lies
  // in one.
  const bool modules = reading_ == Reading::kModules;
  KILN_TRY(Statement statement,
           writes.connection().Prepare(
               "SELECT e.eid, e.level, e.used_q, e.cost_us, length(e.value) +"
               " (SELECT coalesce(sum(length(b.data)"
               "    + coalesce(b.raw_size * length(k.data) / nullif(k.raw_size, 0), 0)), 0)"
               "  FROM ref AS r JOIN blob AS b USING (rid) LEFT JOIN block AS k ON k.bid=b.block"
               "  WHERE r.eid=e.eid)"
               " FROM entry AS e WHERE e.used_q=?1 AND e.eid>?2 AND e.used_q<?3"
               " AND (e.level=?4)=?5 ORDER BY e.eid LIMIT ?6"));
  Query query(statement);
  query.Bind(modules ? quantum_ - kModuleBonusQuanta : quantum_).Bind(last_eid_).Bind(floor_q);
  query.Bind(static_cast<int64_t>(Level::kModule)).Bind(int64_t{modules}).Bind(kReadRows);
  int64_t rows = 0;
  for (;; ++rows) {
    KILN_TRY(const bool found, query.Next());
    if (!found) {
      break;
    }
    last_eid_ = query.Int(0);
    plan_.push_back({.record = query.Int(0),
                     .level = static_cast<Level>(query.Int(1)),
                     .used_q = query.Int(2),
                     .cost_us = static_cast<uint64_t>(query.Int(3)),
                     .bytes = static_cast<uint64_t>(query.Int(4))});
  }
  if (rows == kReadRows && plan_.size() < kMaxPlan) {
    return {};
  }
  last_eid_ = 0;
  reading_ = modules || plan_.size() >= kMaxPlan ? Reading::kDone : Reading::kModules;
  if (reading_ == Reading::kDone) {
    SortForEviction(plan_);
  }
  return {};
}

Result<void> Collector::DropPlanned(TableWrites& writes) {
  if (reading_ != Reading::kDone) {
    return {};
  }
  const Duration start = clock_.Monotonic();
  KILN_TRY(Transaction transaction, Transaction::Begin(writes.connection()));
  // Uses that are not written yet are flushed before anything is judged.
  KILN_TRY_VOID(FlushAccessTimes(writes, access_times_));
  // Removes no more than is needed. Content that other records share makes this an overestimate;
  // then the next slice goes on.
  const uint64_t surplus = counters_.used_bytes - std::min<uint64_t>(counters_.used_bytes, target_);
  uint64_t freed = 0;
  uint64_t dropped = 0;
  // Each candidate is judged again inside of the transaction (MayGo): it may have been used, pinned
  // or leased since it was read.
  for (size_t i = 0; i < kSliceRecords && next_ < plan_.size(); ++i, ++next_) {
    KILN_TRY(const bool may_go, MayGo(writes, access_times_, plan_[next_]));
    if (may_go) {
      KILN_TRY(const std::vector<int64_t> rids, writes.removals().RefsOf(plan_[next_].record));
      KILN_TRY_VOID(writes.removals().DropRecord(plan_[next_].record, RemovedBy::kCollection));
      KILN_TRY_VOID(DropOrphans(writes, access_times_, rids));
      freed += plan_[next_].bytes;
      ++dropped;
    }
    if (freed >= surplus || clock_.Monotonic() - start > kSliceTime) {
      ++next_;
      break;
    }
  }
  KILN_TRY_VOID(transaction.Commit());
  counters_.evicted += dropped;
  return {};
}

// What is past its grace and no lease keeps goes, without waiting for the sweep over all contents
// to come by; what is named or gone meanwhile counts for its sender no longer.
Result<void> Collector::LookAtSent(TableWrites& writes) {
  const int64_t now_s = writes.NowSeconds();
  const int64_t before_s = now_s - kGraceSeconds;
  const std::vector<Hash128> ids = sent_.SentBefore(before_s, kSentAtOnce);
  if (ids.empty()) {
    return {};
  }
  KILN_TRY(Transaction transaction, Transaction::Begin(writes.connection()));
  KILN_TRY(const std::vector<Hash128> stay,
           writes.removals().DropUnnamed(ids, before_s, [&](const Hash128& id) {
             return access_times_.IsLeased({.level = Level::kContent, .id = id}, now_s);
           }));
  KILN_TRY_VOID(transaction.Commit());
  const std::set<Hash128> kept(stay.begin(), stay.end());
  for (const Hash128& id : ids) {
    if (!kept.contains(id)) {
      sent_.Forget(id);
    }
  }
  return {};
}

// A sweep over all contents, one page for each slice, remembers which dictionaries they need. At
// its end those that none needs go, and the next sweep begins.
Result<void> Collector::ScanOrphans(TableWrites& writes) {
  std::vector<int64_t> rids;
  int64_t rows = 0;
  {
    KILN_TRY(Statement statement,
             writes.connection().Prepare(
                 "SELECT rid, put_s<?2 AND NOT EXISTS (SELECT 1 FROM ref WHERE ref.rid=blob.rid),"
                 " dict FROM blob WHERE rid>?1 ORDER BY rid LIMIT ?3"));
    Query query(statement);
    // Content is put before the record that names it, so young content without references may still
    // get one.
    query.Bind(orphan_rid_).Bind(writes.NowSeconds() - kGraceSeconds).Bind(kScanRows);
    for (;; ++rows) {
      KILN_TRY(const bool found, query.Next());
      if (!found) {
        break;
      }
      orphan_rid_ = query.Int(0);
      dictionaries_.insert(query.Int(2));
      if (query.Int(1) != 0) {
        rids.push_back(orphan_rid_);
      }
    }
  }
  if (!rids.empty()) {
    KILN_TRY(Transaction transaction, Transaction::Begin(writes.connection()));
    KILN_TRY_VOID(DropOrphans(writes, access_times_, rids));
    KILN_TRY_VOID(transaction.Commit());
  }
  if (rows < kScanRows) {
    orphan_rid_ = 0;
    KILN_TRY_VOID(DropUnusedDictionaries(writes));
    dictionaries_.clear();
  }
  return {};
}

// The current dictionary of each kind stays even if no content needs it yet. A content that was
// written anew behind the sweep may need one that the sweep did not see: then it is found damaged
// and made again.
Result<void> Collector::DropUnusedDictionaries(TableWrites& writes) {
  std::vector<int64_t> unused;
  {
    KILN_TRY(Statement statement,
             writes.connection().Prepare("SELECT dict FROM dict WHERE dict NOT IN"
                                         " (SELECT v FROM meta WHERE k GLOB 'dict.*')"));
    Query query(statement);
    KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
      if (!dictionaries_.contains(row.Int(0))) {
        unused.push_back(row.Int(0));
      }
    }));
  }
  for (const int64_t number : unused) {  // each is a transaction of its own
    KILN_TRY_VOID(writes.removals().DropDictionary(number));
  }
  return {};
}

// Gives free pages back to the file system when they are more than a tenth of the file.
Result<bool> Collector::Vacuum(TableWrites& writes) {
  KILN_TRY(const int64_t free, writes.connection().QueryInt("PRAGMA freelist_count"));
  KILN_TRY(const int64_t pages, writes.connection().QueryInt("PRAGMA page_count"));
  // Free pages are used again by puts. They go back to the file system only when they are many,
  // since each costs moving a page.
  const bool wanted = vacuum_all_ ? free > 0 : free > kVacuumPages && free * 10 > pages;
  if (!wanted) {
    vacuum_all_ = false;
    return false;
  }
  KILN_TRY(Statement statement, writes.connection().Prepare("PRAGMA incremental_vacuum(256)"));
  Query query(statement);
  for (;;) {
    KILN_TRY(const bool more, query.Next());  // one step frees one page
    if (!more) {
      return true;
    }
  }
}

}  // namespace kiln::cache::sqlite
