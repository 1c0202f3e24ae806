// SPDX-License-Identifier: MIT
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
constexpr uint64_t kRecordBytes = 1024;  // of one, about
constexpr int kTried = 8;  // slots among which the least lately used one is looked for

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

// Some slots behind a place that depends on the new one; the one with the lowest newest number
// goes.
Result<void> DropASlot(TableWrites& writes, const Hash128& near) {
  Bytes victim;
  int64_t oldest = std::numeric_limits<int64_t>::max();
  {
    KILN_TRY(Statement next,
             writes.connection().Prepare("SELECT slot, (SELECT max(seq) FROM explain AS e"
                                         "  WHERE e.slot=x.slot) FROM explain AS x WHERE slot>?1"
                                         " ORDER BY slot LIMIT 1"));
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
  KILN_TRY(Statement drop, writes.connection().Prepare("DELETE FROM explain WHERE slot=?1"));
  Query query(drop);
  return query.Bind(ByteView(victim)).Run();
}

struct Row {
  Hash128 slot;
  int64_t seq = 0;
  Bytes body;
};

// The last kExplainPerSlot of each slot, oldest first.
std::vector<Row> LatestRows(std::span<const std::shared_ptr<const ExplainRecord>> records) {
  std::vector<Row> rows;
  std::unordered_map<Hash128, uint32_t, Hash128Hash> of_slot;
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    const Hash128 slot = (*record)->slot.Id();
    if (++of_slot[slot] <= kExplainPerSlot) {
      rows.push_back({.slot = slot,
                      .seq = static_cast<int64_t>((*record)->seq),
                      .body = EncodeExplain(**record)});
    }
  }
  std::ranges::reverse(rows);
  return rows;
}

// What rows are appended with; made once for all rows of a group.
struct AppendStatements {
  Statement count, drop, insert;

  static Result<AppendStatements> Prepare(Connection& connection) {
    AppendStatements made;
    KILN_TRY(made.count,
             connection.Prepare("SELECT count(*), min(seq) FROM explain WHERE slot=?1"));
    KILN_TRY(made.drop, connection.Prepare("DELETE FROM explain WHERE slot=?1 AND seq<=?2"));
    KILN_TRY(made.insert, connection.Prepare("INSERT OR REPLACE INTO explain VALUES (?1, ?2, ?3)"));
    return made;
  }
};

Result<void> AppendRow(TableWrites& writes, AppendStatements& statements, const Row& row) {
  const Hash128& slot = row.slot;
  int64_t rows = 0;
  int64_t oldest = 0;
  {
    Query query(statements.count);
    KILN_TRY_VOID(query.Bind(slot).Next());
    rows = query.Int(0);
    oldest = query.Int(1);
  }
  if (rows == 0) {
    KILN_TRY(const int64_t slots, MetaInt(writes, "explain_slots"));
    if (slots >= int64_t{kExplainSlots}) {
      KILN_TRY_VOID(DropASlot(writes, slot));
    } else {
      KILN_TRY_VOID(SetMetaInt(writes, "explain_slots", slots + 1));
    }
  } else if (rows >= int64_t{kExplainPerSlot}) {
    Query query(statements.drop);
    KILN_TRY_VOID(query.Bind(slot).Bind(oldest).Run());
  }
  Query query(statements.insert);
  return query.Bind(slot).Bind(row.seq).Bind(ByteView(row.body)).Run();
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
void ExplainTable::Append(std::span<const std::shared_ptr<const ExplainRecord>> records) {
  if (records.empty()) {
    return;
  }
  const Writer::Weight weight{.items = static_cast<uint32_t>(records.size()),
                              .bytes = records.size() * kRecordBytes};
  store_.Post(
      [records = std::vector(records.begin(), records.end())](TableWrites& writes) -> Result<void> {
        KILN_TRY(AppendStatements statements, AppendStatements::Prepare(writes.connection()));
        for (const Row& row : LatestRows(records)) {
          KILN_TRY_VOID(AppendRow(writes, statements, row));
        }
        return SetMetaInt(writes, "explain_seq", static_cast<int64_t>(records.back()->seq) + 1);
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
