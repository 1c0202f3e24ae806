// SPDX-License-Identifier: MIT
// `seq` ascends over all slots, so that the slot whose newest row has the lowest number is the one
// that was used least lately. `meta` counts the slots, because counting rows would scan.
#include "cache/sqlite/explain_table.h"

#include <utility>

#include "cache/key.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int kTried = 8;  // slots among which the least lately used one is looked for

Result<int64_t> MetaInt(Changes& changes, std::string_view name) {
  KILN_TRY(Statement statement, changes.connection().Prepare("SELECT v FROM meta WHERE k=?1"));
  Query query(statement);
  KILN_TRY(const bool found, query.Bind(name).Next());
  return found ? query.Int(0) : int64_t{0};
}

Result<void> SetMetaInt(Changes& changes, std::string_view name, int64_t value) {
  KILN_TRY(Statement statement,
           changes.connection().Prepare("INSERT INTO meta VALUES (?1, ?2)"
                                        " ON CONFLICT (k) DO UPDATE SET v=?2"));
  Query query(statement);
  return query.Bind(name).Bind(value).Run();
}

// Some slots behind a place that depends on the new one; the one with the lowest newest number
// goes.
Result<void> DropASlot(Changes& changes, const Hash128& near) {
  Bytes victim;
  int64_t oldest = std::numeric_limits<int64_t>::max();
  {
    KILN_TRY(Statement next,
             changes.connection().Prepare("SELECT slot, (SELECT max(seq) FROM explain AS e"
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
  KILN_TRY(Statement drop, changes.connection().Prepare("DELETE FROM explain WHERE slot=?1"));
  Query query(drop);
  return query.Bind(ByteView(victim)).Run();
}

Result<void> AppendRow(Changes& changes, const Hash128& slot, ByteView body) {
  KILN_TRY(const int64_t seq, MetaInt(changes, "explain_seq"));
  KILN_TRY_VOID(SetMetaInt(changes, "explain_seq", seq + 1));
  int64_t rows = 0;
  int64_t oldest = 0;
  {
    KILN_TRY(Statement count,
             changes.connection().Prepare("SELECT count(*), min(seq) FROM explain WHERE slot=?1"));
    Query query(count);
    KILN_TRY_VOID(query.Bind(slot).Next());
    rows = query.Int(0);
    oldest = query.Int(1);
  }
  if (rows == 0) {
    KILN_TRY(const int64_t slots, MetaInt(changes, "explain_slots"));
    if (slots >= int64_t{kExplainSlots}) {
      KILN_TRY_VOID(DropASlot(changes, slot));
    } else {
      KILN_TRY_VOID(SetMetaInt(changes, "explain_slots", slots + 1));
    }
  } else if (rows >= int64_t{kExplainPerSlot}) {
    KILN_TRY(Statement drop,
             changes.connection().Prepare("DELETE FROM explain WHERE slot=?1 AND seq<=?2"));
    Query query(drop);
    KILN_TRY_VOID(query.Bind(slot).Bind(oldest).Run());
  }
  KILN_TRY(Statement insert,
           changes.connection().Prepare("INSERT INTO explain VALUES (?1, ?2, ?3)"));
  Query query(insert);
  return query.Bind(slot).Bind(seq).Bind(body).Run();
}

}  // namespace

void ExplainTable::Append(const ExplainSlot& slot, const ExplainRecord& record) {
  const Hash128 id = SlotId(slot.space, slot.project, slot.program, slot.target);
  const Writer::Weight weight{.items = 1, .bytes = 1024};
  store_.Post(
      [id, body = EncodeExplain(record)](Changes& changes) { return AppendRow(changes, id, body); },
      weight);
}

Result<std::vector<ExplainRecord>> ExplainTable::Records(const ExplainSlot& slot) {
  const Hash128 id = SlotId(slot.space, slot.project, slot.program, slot.target);
  KILN_TRY(ReaderPool::Loan reader, store_.Read({}));
  KILN_TRY(Statement statement,
           reader.connection().Prepare("SELECT body FROM explain WHERE slot=?1 ORDER BY seq"));
  Query query(statement);
  query.Bind(id);
  std::vector<ExplainRecord> records;
  for (;;) {
    KILN_TRY(const bool found, query.Next());
    if (!found) {
      return records;
    }
    Result<ExplainRecord> record = DecodeExplain(query.Blob(0));
    if (record.ok()) {
      records.push_back(std::move(record).value());
    }
  }
}

}  // namespace kiln::cache::sqlite
