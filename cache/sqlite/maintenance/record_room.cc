// SPDX-License-Identifier: MIT
// Records are known by their row numbers, in a ledger like that of content which no record names
// (sent_content.h). The ledger may be wrong about a record that went another way: then its number
// is met here, frees nothing and is forgotten. Costs: a query for each record that is put for
// somebody else than the owner; what is dropped goes in transactions of so many records, for which
// puts wait.
#include "cache/sqlite/maintenance/record_room.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "cache/leases/actor.h"
#include "cache/sqlite/maintenance/retention.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache::sqlite {
namespace {

constexpr size_t kRecordsAtOnce = 256;
// How many are known is counted in one walk over them, after so many new ones.
constexpr uint32_t kAddedBetweenTrims = 1024;
constexpr uint64_t kPartsOfSurplus = 16;
// A put that meets a full store waits for so many transactions at most.
constexpr int kMostRounds = 64;

// What a record takes with its content, of a block the share that lies in it.
#define KILN_RECORD_COST                                                             \
  "length(e.value) + (SELECT coalesce(sum(length(b.data)"                            \
  "    + coalesce(b.raw_size * length(k.data) / nullif(k.raw_size, 0), 0)), 0)"      \
  "  FROM ref AS r JOIN blob AS b USING (rid) LEFT JOIN block AS k ON k.bid=b.block" \
  "  WHERE r.eid=e.eid)"

constexpr std::string_view kCostSql =
    "SELECT e.eid, " KILN_RECORD_COST
    " FROM entry AS e WHERE e.space=?1 AND e.level=?2 AND e.key=?3";

// Whatever its age: what a live lease covers was used in its quantum or later.
constexpr std::string_view kOldestSql =
    "SELECT e.eid, " KILN_RECORD_COST
    " FROM entry AS e WHERE e.used_q<?1 AND NOT EXISTS"
    " (SELECT 1 FROM pin_entry AS p JOIN pin USING (pin) WHERE p.eid=e.eid"
    "  AND (pin.until_s IS NULL OR pin.until_s>?2))"
    " ORDER BY e.used_q, e.eid LIMIT ?3";

#undef KILN_RECORD_COST

constexpr std::string_view kContentSql =
    "SELECT blob.id FROM ref JOIN blob USING (rid) WHERE ref.eid=?1";

// The number of a record as the ledger has it.
Hash128 LedgerId(int64_t eid) {
  Hash128 id;
  for (size_t i = 0; i < sizeof(eid); ++i) {
    id.bytes[i] = static_cast<uint8_t>(static_cast<uint64_t>(eid) >> (8 * i));
  }
  return id;
}

int64_t RecordOf(const Hash128& id) {
  uint64_t eid = 0;
  for (size_t i = 0; i < sizeof(eid); ++i) {
    eid |= static_cast<uint64_t>(id.bytes[i]) << (8 * i);
  }
  return static_cast<int64_t>(eid);
}

bool IsRecord(const Key& key) { return key.level != Level::kContent && key.level != Level::kAlias; }

Result<bool> IsThere(TableWrites& writes, int64_t eid) {
  KILN_TRY(Statement statement, writes.connection().Prepare("SELECT 1 FROM entry WHERE eid=?1"));
  Query query(statement);
  query.Bind(eid);
  return query.Next();
}

// With its content, unless another record names that. A grace is for content that will be named
// soon, and nobody is about to name this.
Result<void> DropWithContent(TableWrites& writes, int64_t eid) {
  std::vector<Hash128> content;
  {
    KILN_TRY(Statement statement, writes.connection().Prepare(kContentSql));
    Query query(statement);
    query.Bind(eid);
    KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
      content.push_back(row.Id(0).value_or(Hash128{}));
    }));
  }
  KILN_TRY_VOID(writes.removals().DropRecord(eid, RemovedBy::kCollection));
  KILN_TRY([[maybe_unused]] const std::vector<Hash128> stay,
           writes.removals().DropUnnamed(content, std::numeric_limits<int64_t>::max(),
                                         [](const Hash128& /*id*/) { return false; }));
  return {};
}

}  // namespace

int64_t RecordRoom::NowSeconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(parts_.clock.UnixTime()).count();
}

uint64_t RecordRoom::Surplus(uint64_t target_bytes) const {
  const uint64_t used = parts_.counters.used_bytes + parts_.aside.bytes();
  return used - std::min(used, target_bytes);
}

Result<void> RecordRoom::Note(TableWrites& writes, std::string_view principal,
                              std::span<const Item> put) {
  if (OwnerName(principal) == OwnerName({})) {
    return {};
  }
  KILN_TRY(Statement statement, writes.connection().Prepare(kCostSql));
  uint32_t added = 0;
  for (const Item& item : put) {
    if (!IsRecord(item.key)) {
      continue;
    }
    Query query(statement);
    query.Bind(static_cast<int64_t>(item.key.space)).Bind(static_cast<int64_t>(item.key.level));
    KILN_TRY(const bool found, query.Bind(item.key.id).Next());
    if (found && parts_.records.Add(principal, LedgerId(query.Int(0)),
                                    static_cast<uint64_t>(query.Int(1)), writes.NowSeconds())) {
      ++added;
    }
  }
  if (added != 0 && (parts_.records_added += added) >= kAddedBetweenTrims) {
    parts_.records_added = 0;
    Trim();
  }
  return {};
}

// Each counts for a part of the store at least, so this many fill it; more are stale.
void RecordRoom::Trim() {
  size_t known = 0;
  for (const SentContent::Share& share : parts_.records.Shares()) {
    known += share.contents;
  }
  for (; known > SentContent::kMostContents; --known) {
    for (const Hash128& id : parts_.records.OldestOfMost(1, 1)) {
      parts_.records.Forget(id);
    }
  }
}

// As much as he has more than the next, so that those who have much come down together; a part of
// what is wanted at least, so that rounds are few.
RecordRoom::Meant RecordRoom::OfWhoeverHasMost(uint64_t bytes) const {
  Meant meant;
  const std::vector<SentContent::Share> shares = parts_.records.Shares();
  if (shares.empty()) {
    return meant;
  }
  const uint64_t next = shares.size() == 1 ? 0 : shares[1].bytes;
  const uint64_t wanted =
      std::min(bytes, std::max(shares[0].bytes - next, bytes / kPartsOfSurplus + 1));
  for (const Hash128& id : parts_.records.OldestOfMost(wanted, kRecordsAtOnce)) {
    meant.records.push_back(RecordOf(id));
  }
  meant.leases_count = parts_.records.Fits(shares[0].owner);
  return meant;
}

Result<RecordRoom::Meant> RecordRoom::LeastLatelyUsed(uint64_t bytes) const {
  KILN_TRY(ReaderPool::Loan reader, parts_.session.Read({}));
  const int64_t now_s = NowSeconds();
  KILN_TRY(const int64_t floor_q, LeaseFloor(reader.connection(), now_s));
  KILN_TRY(Statement statement, reader.connection().Prepare(kOldestSql));
  Query query(statement);
  query.Bind(floor_q).Bind(now_s).Bind(static_cast<int64_t>(kRecordsAtOnce));
  // Whoever asks for them again and again keeps nothing by that.
  Meant meant{.records = {}, .leases_count = false};
  for (uint64_t found = 0; found < bytes;) {
    KILN_TRY(const bool more, query.Next());
    if (!more) {
      break;
    }
    meant.records.push_back(query.Int(0));
    found += static_cast<uint64_t>(query.Int(1));
  }
  return meant;
}

// Looked at again inside the transaction. What went, now or another way, is forgotten; what stays
// goes on to count.
Result<size_t> RecordRoom::Drop(Meant meant, const Call& call) {
  // The change lives longer than this call if the caller leaves, and may run twice: it owns what it
  // names and begins anew.
  auto gone = std::make_shared<std::vector<int64_t>>();
  KILN_TRY_VOID(parts_.session.Write(
      [this, gone, meant = std::move(meant)](TableWrites& writes) -> Result<void> {
        gone->clear();
        KILN_TRY(const int64_t floor_q, LeaseFloor(writes.connection(), writes.NowSeconds()));
        KILN_TRY_VOID(FlushAccessTimes(writes, parts_.access_times));
        for (const int64_t record : meant.records) {
          const Candidate candidate{.record = record, .used_q = floor_q - 1};
          KILN_TRY(const bool may_go, meant.leases_count
                                          ? MayGo(writes, parts_.access_times, candidate)
                                          : MayBeForgotten(writes, candidate));
          KILN_TRY(const bool there, IsThere(writes, record));
          if (may_go) {
            KILN_TRY_VOID(DropWithContent(writes, record));
            ++parts_.counters.evicted;
          }
          if (may_go || !there) {
            gone->push_back(record);
          }
        }
        return {};
      },
      call));
  for (const int64_t record : *gone) {
    parts_.records.Forget(LedgerId(record));
  }
  return gone->size();
}

void RecordRoom::MakeRoom(uint64_t target_bytes, const Call& call) {
  bool by_principal = true;  // else what was used least lately
  for (int round = 0; round < kMostRounds; ++round) {
    CheckStop();
    const uint64_t surplus = Surplus(target_bytes);
    if (surplus == 0) {
      return;
    }
    Result<Meant> meant =
        by_principal ? Result<Meant>(OfWhoeverHasMost(surplus)) : LeastLatelyUsed(surplus);
    const bool any = meant.ok() && !meant->records.empty();
    const Result<size_t> gone = any ? Drop(*std::move(meant), call) : Result<size_t>(size_t{0});
    if (!gone.ok() || (*gone == 0 && !by_principal)) {
      return;
    }
    by_principal = by_principal && *gone != 0;
  }
}

}  // namespace kiln::cache::sqlite
