// SPDX-License-Identifier: MIT
// Keeps explain records within two bounds: so many slots with so many rows each, and so many bytes
// in all (spec/cache 11). All changes run on the writer's thread; reads take a reader of the pool.
// `seq` ascends over all slots, so that the slot whose newest row has the lowest number is the one
// that was used least lately. `meta` counts the slots, because counting rows would scan.
#include "cache/sqlite/tables/explain_table.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/explain/explain_codec.h"
#include "cache/sqlite/tables/table_pages.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int64_t kPageRows = 1000;
// The slot that was used least lately would have to be looked for among all of them. The oldest of
// eight neighbours of a random place is old enough, and costs eight look-ups in an index.
constexpr int kTried = 8;  // slots among which the least lately used one is looked for

// A value that is not there counts as 0, which is right for a new file.
Result<int64_t> MetaInt(TableWrites& writes, std::string_view name) {
  KILN_TRY(Statement statement, writes.connection().Prepare("SELECT v FROM meta WHERE k=?1"));
  Query query(statement);
  KILN_TRY(const bool found, query.Bind(name).Next());
  return found ? query.Int(0) : int64_t{0};
}

Result<void> SetMetaInt(TableWrites& writes, std::string_view name, int64_t value) {
  KILN_TRY(Statement statement, writes.connection().Prepare("INSERT INTO meta VALUES (?1, ?2)"
                                                            " ON CONFLICT (k) DO UPDATE SET v=?2"));
  Query query(statement);
  return query.Bind(name).Bind(value).Run();
}

// What `meta` counts of the table.
struct ExplainTotals {
  int64_t slots = 0;
  int64_t bytes = 0;  // of bodies
};

// Some slots behind a place that depends on the new one; the one with the lowest newest number
// goes. Where there is none the counts were wrong, and are right then.
Result<void> DropASlot(TableWrites& writes, const Hash128& near, ExplainTotals& totals) {
  Bytes victim;
  int64_t oldest = std::numeric_limits<int64_t>::max();
  {
    KILN_TRY(Statement next,
             writes.connection().Prepare("SELECT slot, (SELECT max(seq) FROM explain AS e"
                                         "  WHERE e.slot=x.slot) FROM explain AS x WHERE slot>?1"
                                         " ORDER BY slot LIMIT 1"));
    // The hash of the slot that needs room is a place anywhere in the table, and not beside the
    // slot itself.
    const Hash128 start = HashBytes(std::as_bytes(std::span(near.bytes)));
    Bytes at(std::as_bytes(std::span(start.bytes)).begin(),
             std::as_bytes(std::span(start.bytes)).end());
    for (int i = 0; i < kTried; ++i) {
      const Bytes after = at;
      Query query(next);
      KILN_TRY(const bool found, query.Bind(ByteView(after)).Next());
      if (!found) {
        at.clear();  // from the front again
        continue;
      }
      at.assign(query.Blob(0).begin(), query.Blob(0).end());
      if (query.Int(1) < oldest) {
        oldest = query.Int(1);
        victim = at;
      }
    }
  }
  if (oldest == std::numeric_limits<int64_t>::max()) {
    totals = {};
    return {};
  }
  {
    KILN_TRY(Statement sum,
             writes.connection().Prepare("SELECT sum(length(body)) FROM explain WHERE slot=?1"));
    Query query(sum);
    KILN_TRY_VOID(query.Bind(ByteView(victim)).Next());
    totals.bytes -= std::min(totals.bytes, query.Int(0));
  }
  totals.slots -= std::min<int64_t>(totals.slots, 1);
  KILN_TRY(Statement drop, writes.connection().Prepare("DELETE FROM explain WHERE slot=?1"));
  Query query(drop);
  return query.Bind(ByteView(victim)).Run();
}

struct ExplainRow {
  Hash128 slot;
  int64_t seq = 0;
  Bytes body;
};

// The last kExplainPerSlot of each slot, oldest first.
std::vector<ExplainRow> LatestRows(std::span<const std::shared_ptr<const ExplainRecord>> records) {
  std::vector<ExplainRow> rows;
  std::unordered_map<Hash128, uint32_t, Hash128Hash> of_slot;
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    const Hash128 slot = (*record)->slot.Id();
    // Walked from the newest: of a batch with thousands of requests of one slot only the last ones
    // would stay anyway.
    if (++of_slot[slot] <= kExplainPerSlot) {
      rows.push_back({.slot = slot,
                      .seq = static_cast<int64_t>((*record)->seq),
                      .body = EncodeExplain(**record)});
    }
  }
  std::ranges::reverse(rows);
  return rows;
}

// A record that is longer than all may be is not kept.
Result<void> AppendRow(TableWrites& writes, const ExplainRow& row, int64_t max_bytes,
                       ExplainTotals& totals) {
  const Hash128& slot = row.slot;
  const auto size = static_cast<int64_t>(row.body.size());
  if (size > max_bytes) {
    return {};
  }
  while (totals.bytes + size > max_bytes) {
    KILN_TRY_VOID(DropASlot(writes, slot, totals));
  }
  int64_t rows = 0;
  int64_t oldest = 0;
  {
    KILN_TRY(Statement count,
             writes.connection().Prepare("SELECT count(*), min(seq) FROM explain WHERE slot=?1"));
    Query query(count);
    KILN_TRY_VOID(query.Bind(slot).Next());
    rows = query.Int(0);
    oldest = query.Int(1);
  }
  if (rows == 0) {
    if (totals.slots >= int64_t{kExplainSlots}) {
      KILN_TRY_VOID(DropASlot(writes, slot, totals));
    }
    ++totals.slots;
  } else if (rows >= int64_t{kExplainPerSlot}) {
    KILN_TRY(Statement drop, writes.connection().Prepare("DELETE FROM explain WHERE slot=?1 AND"
                                                         " seq<=?2 RETURNING length(body)"));
    Query query(drop);
    query.Bind(slot).Bind(oldest);
    KILN_TRY([[maybe_unused]] const int64_t dropped, query.EachRow([&](const Query& gone) {
      totals.bytes -= std::min(totals.bytes, gone.Int(0));
    }));
  }
  totals.bytes += size;
  KILN_TRY(Statement insert,
           // A change may run twice, and the second run must not fail on the rows of the first.
           writes.connection().Prepare("INSERT OR REPLACE INTO explain VALUES (?1, ?2, ?3)"));
  Query query(insert);
  return query.Bind(slot).Bind(row.seq).Bind(ByteView(row.body)).Run();
}

// The totals are read once and written once for each group of records. They are in the same
// transaction as the rows, so a crash leaves both or neither.
Result<void> AppendRows(TableWrites& writes,
                        std::span<const std::shared_ptr<const ExplainRecord>> records,
                        int64_t max_bytes, int64_t room) {
  ExplainTotals totals;
  KILN_TRY(totals.slots, MetaInt(writes, "explain_slots"));
  KILN_TRY(totals.bytes, MetaInt(writes, "explain_bytes"));
  max_bytes = std::min(max_bytes, totals.bytes + room);
  for (const ExplainRow& row : LatestRows(records)) {
    KILN_TRY_VOID(AppendRow(writes, row, max_bytes, totals));
  }
  KILN_TRY_VOID(SetMetaInt(writes, "explain_slots", totals.slots));
  KILN_TRY_VOID(SetMetaInt(writes, "explain_bytes", totals.bytes));
  return SetMetaInt(writes, "explain_seq", static_cast<int64_t>(records.back()->seq) + 1);
}

// Pages of (seq, body, slot, whether the body has the bytes ?3 somewhere). No bytes are everywhere.
constexpr std::string_view kPagesSql =
    "SELECT seq, body, slot, coalesce(instr(body, ?3), 1) FROM explain"
    " WHERE (slot, seq)>(?1, ?2) ORDER BY slot, seq LIMIT ?4";

// Of a row of (seq, body); nothing if it does not decode.
std::optional<ExplainRecord> RecordAt(const Query& query) {
  Result<ExplainRecord> record = DecodeExplain(query.Blob(1));
  if (!record.ok()) {
    return std::nullopt;
  }
  record->seq = static_cast<uint64_t>(query.Int(0));
  return std::move(record).value();
}

}  // namespace

uint64_t ExplainTable::NextSeq() {
  Result<ReaderPool::Loan> reader = store_.Read({});
  if (!reader.ok()) {
    return 1;
  }
  const Result<int64_t> next = (*reader).connection().QueryInt(
      "SELECT coalesce((SELECT v FROM meta WHERE k='explain_seq'), 1)");
  return next.ok() && *next > 0 ? static_cast<uint64_t>(*next) : 1;
}

// Encodes on the writer's thread, so appending waits for nothing. Of a slot only as many rows are
// written as it keeps.
// Posted and not waited for: a record that is lost by a crash costs an explanation. The next number
// is written with the records, so none is given twice.
void ExplainTable::Append(std::span<const std::shared_ptr<const ExplainRecord>> records) {
  if (records.empty()) {
    return;
  }
  Writer::Weight weight{.items = static_cast<uint32_t>(records.size())};
  for (const std::shared_ptr<const ExplainRecord>& record : records) {
    weight.bytes += BytesOf(*record);
  }
  store_.Post(
      [&store = store_, records = std::vector(records.begin(), records.end()), most = max_bytes_,
       of_cache = cache_bytes_](TableWrites& writes) {
        // Asked when they are written: nobody waits for a record, so there may be many. The table
        // may be gone by then, the store is not.
        const uint64_t room =
            of_cache == 0 ? most : of_cache - std::min(of_cache, store.UsedBytes());
        return AppendRows(writes, records, static_cast<int64_t>(most),
                          static_cast<int64_t>(std::min(room, most)));
      },
      weight);
}

Result<std::vector<ExplainRecord>> ExplainTable::Records(const ExplainSlot& slot) {
  KILN_TRY(ReaderPool::Loan reader, store_.Read({}));
  KILN_TRY(Statement statement,
           reader.connection().Prepare("SELECT seq, body FROM explain WHERE slot=?1 ORDER BY seq"));
  const Hash128 id = slot.Id();
  Query query(statement);
  query.Bind(id);
  std::vector<ExplainRecord> records;
  const Result<int64_t> rows = query.EachRow([&](const Query& row) {
    if (std::optional<ExplainRecord> record = RecordAt(row)) {
      records.push_back(*std::move(record));
    }
  });
  return rows.ok() ? Result<std::vector<ExplainRecord>>(std::move(records)) : rows.error();
}

// The search for bytes happens in SQLite, over bodies that are compressed in no way, and decodes
// almost nothing that is not wanted.
Result<void> ExplainTable::EachWith(ByteView bytes, const std::stop_token& stop,
                                    const std::function<void(const ExplainRecord&)>& each) {
  KILN_TRY(ReaderPool::Loan reader, store_.Read({.stop = stop}));
  KILN_TRY(Statement statement, reader.connection().Prepare(kPagesSql));
  Bytes slot;
  Bytes after;
  int64_t seq = 0;
  const auto bind = [&](Query& query) {
    after = slot;
    query.Bind(ByteView(after)).Bind(seq).Bind(bytes).Bind(kPageRows);
  };
  KILN_TRY_VOID(EachPage(statement, stop, bind, [&](const Query& row) {
    // The place moves on even for rows that do not decode, or a damaged one would end the walk.
    seq = row.Int(0);
    slot.assign(row.Blob(2).begin(), row.Blob(2).end());
    const std::optional<ExplainRecord> record = row.Int(3) == 0 ? std::nullopt : RecordAt(row);
    if (record.has_value()) {
      each(*record);
    }
  }));
  if (stop.stop_requested()) {
    return Error{.code = ErrorCode::kCancelled, .context = "stopped", .reason = {}};
  }
  return {};
}

Result<void> ExplainTable::Each(const std::stop_token& stop,
                                const std::function<void(const ExplainRecord&)>& each) {
  return EachWith({}, stop, each);
}

// What has the bytes of the id somewhere may be it; only that is decoded.
Result<std::optional<ExplainRecord>> ExplainTable::Find(const Hash128& signature,
                                                        const std::stop_token& stop) {
  std::optional<ExplainRecord> latest;
  KILN_TRY_VOID(
      EachWith(std::as_bytes(std::span(signature.bytes)), stop, [&](const ExplainRecord& record) {
        if (record.signature == signature && (!latest.has_value() || latest->seq < record.seq)) {
          latest = record;
        }
      }));
  return latest;
}

}  // namespace kiln::cache::sqlite
