// SPDX-License-Identifier: MIT
// Records that match by age or failure go page by page, in the order of eviction; for a size the
// collector of the store is set to work, which chooses by worth. A page is one change of the
// writer: it may run twice, so what it counts begins again from what was before it. What would be
// done (Simulate) walks the same pages and counts content with the last record that names it.
#include "cache/sqlite/maintenance/requested_collection.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cache/sqlite/maintenance/retention.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int64_t kPageRows = 256;
// The writer works in slices of milliseconds and tells nobody when it is done, so it is asked.
constexpr auto kPoll = std::chrono::milliseconds(2);
constexpr int kRoundsOfProgress = 100;
constexpr int kMostCollections = 8;  // while others go on putting
constexpr size_t kMostKeepers = 8;   // that a report names

Error Cancelled() { return {.code = ErrorCode::kCancelled, .context = "stopped", .reason = {}}; }

// As the file says; a store without writer does not know.
Result<uint64_t> UsedBytesOf(SqliteStore& store) {
  KILN_TRY(ReaderPool::Loan reader, store.Read({}));
  KILN_TRY(const int64_t pages, reader.connection().QueryInt("PRAGMA page_count"));
  KILN_TRY(const int64_t free, reader.connection().QueryInt("PRAGMA freelist_count"));
  return static_cast<uint64_t>((pages - free) * kPageSize);
}

// What every row of a page says of a record that may go.
struct EvictionRow {
  Candidate candidate;
  Key key;
};

// Pages of records in the order of eviction: by quantum, then by number. Conditions that do not
// apply have values that every record meets.
constexpr std::string_view kDoomedSql =
    "SELECT e.eid, e.level, e.used_q, e.cost_us, length(e.value), e.space, e.key,"
    " EXISTS (SELECT 1 FROM pin_entry AS p JOIN pin USING (pin) WHERE p.eid=e.eid"
    "  AND (pin.until_s IS NULL OR pin.until_s>?6))"
    " FROM entry AS e WHERE (e.used_q, e.eid)>(?1, ?2) AND e.used_q<?3 AND (e.kind>0 OR ?4=0)"
    " ORDER BY e.used_q, e.eid LIMIT ?5";

struct Page {
  std::vector<EvictionRow> rows;
  std::vector<bool> pinned;
};

// Reads what comes behind `after`, so a page costs the same wherever it lies (entry_lru).
Result<Page> ReadDoomed(Connection& connection, const Candidate& after, int64_t below_q,
                        bool failed, int64_t now_s) {
  KILN_TRY(Statement statement, connection.Prepare(kDoomedSql));
  Query query(statement);
  query.Bind(after.used_q).Bind(after.record).Bind(below_q).Bind(int64_t{failed});
  query.Bind(kPageRows).Bind(now_s);
  Page page;
  for (;;) {
    KILN_TRY(const bool found, query.Next());
    if (!found) {
      return page;
    }
    page.rows.push_back({.candidate = {.record = query.Int(0),
                                       .level = static_cast<Level>(query.Int(1)),
                                       .used_q = query.Int(2),
                                       .cost_us = static_cast<uint64_t>(query.Int(3)),
                                       .bytes = static_cast<uint64_t>(query.Int(4))},
                         .key = {.level = static_cast<Level>(query.Int(1)),
                                 .space = static_cast<uint32_t>(query.Int(5)),
                                 .id = query.Id(6).value_or(Hash128{})}});
    page.pinned.push_back(query.Int(7) != 0);
  }
}

bool IsMeant(const GcOptions& options, const EvictionRow& doomed) {
  return options.among == nullptr || options.among->contains(doomed.key);
}

constexpr Candidate kFirst{.record = std::numeric_limits<int64_t>::min(),
                           .used_q = std::numeric_limits<int64_t>::min()};

// Below which quantum records match. Failures may be as young as they like, and no lease keeps
// them: a lease promises a session that what it has seen stays there to be read, and of a failure
// there is nothing to be read. Whoever asks again builds again, which is what was asked for.
Result<int64_t> BelowQuantum(Connection& connection, const GcOptions& options, int64_t now_s) {
  int64_t below_q = std::numeric_limits<int64_t>::max();
  if (!options.failed) {
    KILN_TRY(below_q, options.older_than_s.has_value() ? LeaseFloor(connection, now_s)
                                                       : FloorQuantum(connection, now_s));
  }
  if (options.older_than_s.has_value()) {
    // Bounded so that the subtraction cannot overflow.
    const auto age_s =
        static_cast<int64_t>(std::min<uint64_t>(*options.older_than_s, uint64_t{1} << 40));
    below_q = std::min(below_q, (now_s - age_s) / kQuantumSeconds);
  }
  return below_q;
}

// Content that is freed with the last of the records that name it.
class ContentRemoval {
 public:
  explicit ContentRemoval(Connection& connection) : connection_(connection) {}

  Result<uint64_t> With(int64_t eid) {
    KILN_TRY(Statement statement,
             connection_.Prepare(
                 "SELECT b.rid, length(b.data)"
                 "  + coalesce(b.raw_size * length(k.data) / nullif(k.raw_size, 0), 0),"
                 " (SELECT count(*) FROM ref AS r WHERE r.rid=b.rid)"
                 " FROM ref JOIN blob AS b USING (rid) LEFT JOIN block AS k ON k.bid=b.block"
                 " WHERE ref.eid=?1"));
    Query query(statement);
    query.Bind(eid);
    uint64_t bytes = 0;
    for (;;) {
      KILN_TRY(const bool found, query.Next());
      if (!found) {
        return bytes;
      }
      // A content is freed when the last of its records goes, so its records are counted down as
      // they are met.
      const auto [left, is_new] = left_.try_emplace(query.Int(0), query.Int(2));
      bytes += --left->second == 0 ? static_cast<uint64_t>(query.Int(1)) : 0;
    }
  }

 private:
  Connection& connection_;
  std::unordered_map<int64_t, int64_t> left_;  // rid -> records that still name it
};

}  // namespace

// Progress is told now and then, since each look asks the store.
Result<void> RequestedCollection::CollectTo(uint64_t bytes) {
  const uint64_t before = store_.UsedBytes();
  const uint64_t surplus = before - std::min(before, bytes);
  const auto tell = [&] {
    if (surplus != 0) {
      const uint64_t freed = before - std::min(before, store_.UsedBytes());
      options_.on_bytes(std::min(surplus, freed), surplus);
    }
  };
  store_.StartCollecting(bytes);
  for (int round = 0; store_.Collecting(); ++round) {
    if (options_.stop.stop_requested()) {
      store_.StopCollecting();
      return Cancelled();
    }
    if (round % kRoundsOfProgress == 0) {
      tell();
    }
    std::this_thread::sleep_for(kPoll);
  }
  tell();
  return {};
}

// Content that no record names and that its senders have leased: often more than all leased records
// have, so those with most of it come first.
void RequestedCollection::KeepersOfContent(int64_t now_s, GcReport& report) {
  std::vector<Keeper> keepers;
  for (const SentContent::Share& share : store_.sent().Shares()) {
    if (keepers.size() == kMostKeepers) {
      break;
    }
    if (share.last_s + kUnnamedSeconds <= now_s) {
      continue;  // it goes as soon as somebody looks
    }
    keepers.push_back({.owner = fmt::format("content that {} sent ({} bytes that no result names)",
                                            share.owner, share.bytes),
                       .until_s = share.last_s + kUnnamedSeconds});
  }
  report.leases.insert(report.leases.begin(), keepers.begin(), keepers.end());
  report.leases.resize(std::min(report.leases.size(), kMostKeepers));
}

// Records that no lease needs to keep, because they are young: often all there is after a burst.
Result<void> RequestedCollection::KeepersByUse(Connection& connection, int64_t now_s,
                                               GcReport& report) {
  KILN_TRY(Statement statement,
           connection.Prepare("SELECT count(*), coalesce(max(used_q), 0) FROM entry"
                              " WHERE used_q>=?1"));
  Query query(statement);
  query.Bind(now_s / kQuantumSeconds - kGraceSeconds / kQuantumSeconds);
  KILN_TRY([[maybe_unused]] const bool found, query.Next());
  if (query.Int(0) == 0) {
    return {};
  }
  std::string text =
      fmt::format("use in the last {} minutes ({} records", kGraceSeconds / 60, query.Int(0));
  const std::vector<SentContent::Share> shares = store_.made().Shares();
  text += shares.empty() ? ")"
                         : fmt::format(", of which {} bytes were made for {})",
                                       shares.front().bytes, shares.front().owner);
  report.leases.resize(std::min(report.leases.size(), kMostKeepers - 1));
  report.leases.push_back(
      {.owner = std::move(text), .until_s = (query.Int(1) + 1) * kQuantumSeconds + kGraceSeconds});
  return {};
}

// Why the store is larger than it was to be: what is leased, pinned or was used just now stays.
Result<void> RequestedCollection::ExplainRest(GcReport& report) {
  KILN_TRY(ReaderPool::Loan reader, store_.Read({}));
  Connection& connection = reader.connection();
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  {
    KILN_TRY(Statement statement,
             connection.Prepare("SELECT owner, until_s FROM lease WHERE until_s>?1"
                                " ORDER BY until_s DESC, owner LIMIT 8"));
    Query query(statement);
    query.Bind(now_s);
    KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
      report.leases.push_back({.owner = std::string(row.Text(0)), .until_s = row.Int(1)});
    }));
  }
  KeepersOfContent(now_s, report);
  KILN_TRY_VOID(KeepersByUse(connection, now_s, report));
  KILN_TRY(Statement statement,
           connection.Prepare("SELECT count(*), coalesce(max(used_q), 0), count(DISTINCT p.eid)"
                              " FROM entry LEFT JOIN (SELECT eid FROM pin_entry JOIN pin USING"
                              " (pin) WHERE pin.until_s IS NULL OR pin.until_s>?1) AS p"
                              " USING (eid)"));
  Query query(statement);
  query.Bind(now_s);
  KILN_TRY([[maybe_unused]] const bool found, query.Next());
  report.kept = static_cast<uint64_t>(query.Int(0));
  report.pinned = static_cast<uint64_t>(query.Int(2));
  // What a quantum has stays for the grace after it.
  report.kept_until_s = (query.Int(1) + 1) * kQuantumSeconds + kGraceSeconds;
  for (const Keeper& keeper : report.leases) {
    report.kept_until_s = std::max(report.kept_until_s, keeper.until_s);
  }
  return {};
}

// First what was named by age or failure, then the size: what went in the first step counts towards
// the second.
Result<GcReport> RequestedCollection::Run() {
  GcReport report;
  if (options_.dry_run) {
    KILN_TRY(report.used_before, UsedBytesOf(store_));
    KILN_TRY_VOID(Simulate(report));
    report.used_after = report.used_before - std::min(report.used_before, report.bytes);
    return report;
  }
  KILN_TRY_VOID(store_.Flush());  // READ_ONLY shows here; what was touched counts
  report.used_before = store_.UsedBytes();
  if (options_.older_than_s.has_value() || options_.failed) {
    KILN_TRY_VOID(DropMatching(report));
  }
  KILN_TRY_VOID(Shrink(report));
  report.bytes = report.used_before - std::min(report.used_before, report.used_after);
  if (options_.to_bytes.has_value() && report.used_after > *options_.to_bytes) {
    KILN_TRY_VOID(ExplainRest(report));
  }
  return report;
}

// Others put while this collects, the store's own upkeep among them: a dictionary that it has
// trained is put at any moment. What came behind the collector's back is collected, too, as long as
// each round removes something; so the size that is told is the one that was asked for, unless what
// is left may not go or others put faster than this removes.
Result<void> RequestedCollection::Shrink(GcReport& report) {
  for (int round = 0; round < kMostCollections; ++round) {
    const uint64_t evicted = store_.Status().evicted;
    if (options_.to_bytes.has_value()) {
      KILN_TRY_VOID(CollectTo(*options_.to_bytes));
    }
    if (options_.vacuum) {
      store_.StartVacuum();
      KILN_TRY_VOID(CollectTo(std::numeric_limits<uint64_t>::max() - 1));
    }
    KILN_TRY_VOID(store_.Flush());
    report.used_after = store_.UsedBytes();
    if (!options_.to_bytes.has_value()) {
      break;
    }
    const uint64_t removed = store_.Status().evicted - evicted;
    report.records += removed;
    if (removed == 0 || report.used_after <= *options_.to_bytes) {
      break;
    }
  }
  return {};
}

// Pages are dropped in one transaction each, so puts get their turn between them.
Result<void> RequestedCollection::DropMatching(GcReport& report) {
  struct State {
    Candidate after = kFirst;
    uint64_t dropped = 0;
    uint64_t kept = 0;
    bool more = true;
  };
  auto state = std::make_shared<State>();
  while (state->more) {
    if (options_.stop.stop_requested()) {
      return Cancelled();
    }
    const State before = *state;
    // The change may still happen after a stop ended the waiting: it has what it needs by value.
    KILN_TRY_VOID(store_.Write(
        [&store = store_, options = options_, state, before](TableWrites& writes) -> Result<void> {
          *state = before;  // a change may run twice
          // Rows are chosen by their last use, so uses that are known in memory only are written
          // first.
          KILN_TRY_VOID(FlushAccessTimes(writes, store.access_times()));
          KILN_TRY(const int64_t below_q,
                   BelowQuantum(writes.connection(), options, writes.NowSeconds()));
          KILN_TRY(const Page page, ReadDoomed(writes.connection(), state->after, below_q,
                                               options.failed, writes.NowSeconds()));
          for (const EvictionRow& doomed : page.rows) {
            state->after = doomed.candidate;
            if (!IsMeant(options, doomed)) {
              continue;
            }
            KILN_TRY(const bool may_go,
                     options.failed ? MayBeForgotten(writes, doomed.candidate)
                                    : MayGo(writes, store.access_times(), doomed.candidate));
            if (!may_go) {
              ++state->kept;
              continue;
            }
            KILN_TRY(const std::vector<int64_t> rids,
                     writes.removals().RefsOf(doomed.candidate.record));
            KILN_TRY_VOID(
                writes.removals().DropRecord(doomed.candidate.record, RemovedBy::kCollection));
            KILN_TRY_VOID(DropOrphans(writes, store.access_times(), rids));
            ++state->dropped;
          }
          state->more = !page.rows.empty();
          return {};
        },
        {.stop = options_.stop}));
  }
  report.records += state->dropped;
  report.kept += state->kept;
  return {};
}

// What Gc would do now, without leases of the last seconds.
Result<void> RequestedCollection::Simulate(GcReport& report) {
  KILN_TRY(ReaderPool::Loan reader, store_.Read({.stop = options_.stop}));
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  KILN_TRY(const int64_t below_q, BelowQuantum(reader.connection(), options_, now_s));
  ContentRemoval freed(reader.connection());
  const bool all = options_.older_than_s.has_value() || options_.failed;
  // For a size alone only as much as is too much; for age or failures everything that matches.
  const uint64_t surplus =
      options_.to_bytes.has_value() && !all
          ? report.used_before - std::min(report.used_before, *options_.to_bytes)
          : std::numeric_limits<uint64_t>::max();
  for (Candidate after = kFirst;;) {
    KILN_TRY(const Page page,
             ReadDoomed(reader.connection(), after, below_q, options_.failed, now_s));
    if (page.rows.empty()) {
      return {};
    }
    for (size_t i = 0; i < page.rows.size(); ++i) {
      const EvictionRow& doomed = page.rows[i];
      after = doomed.candidate;
      if (report.bytes >= surplus || options_.stop.stop_requested()) {
        return {};
      }
      if (!IsMeant(options_, doomed)) {
        continue;
      }
      const bool is_leased = !options_.failed && store_.access_times().IsLeased(doomed.key, now_s);
      if (page.pinned[i] || is_leased) {
        ++report.kept;
        continue;
      }
      KILN_TRY(const uint64_t content, freed.With(doomed.candidate.record));
      report.bytes += content + doomed.candidate.bytes;
      ++report.records;
    }
  }
}

}  // namespace kiln::cache::sqlite
