// SPDX-License-Identifier: MIT
// In rounds, because a fault may hide others: what is wrong with the whole file is mended first, by
// a new file or new indexes, then the rows, each in a write of its own so that puts get their turn;
// and each time the store is verified again. An index that is still wrong after REINDEX tells of a
// damaged file. Every row is looked at again inside its write: it may be another one by then.
#include "cache/sqlite/repair/repair.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "cache/sqlite/repair/verifier.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int kMostRounds = 4;  // a rebuilt or reindexed file is looked at again

// Mended rows stay with right values, dropped ones are gone; `lost` are the records that went,
// which a daemon may fetch or compile again.
struct Counts {
  uint64_t mended = 0;
  uint64_t dropped = 0;
  std::set<Key> lost;
};

// Statements of a repair run once or twice, so they are prepared where they are used.
Result<void> Run(TableWrites& writes, std::string_view sql, int64_t first, int64_t second) {
  KILN_TRY(Statement statement, writes.connection().Prepare(sql));
  Query query(statement);
  return query.Bind(first).Bind(second).Run();
}

Result<bool> LiesInBlock(TableWrites& writes, int64_t rid) {
  KILN_TRY(Statement statement, writes.connection().Prepare("SELECT codec FROM blob WHERE rid=?1"));
  Query query(statement);
  KILN_TRY(const bool found, query.Bind(rid).Next());
  return found && CodecOf(query.Int(0)) == Codec::kBlock;
}

// Size, codec and sum that make the content what its id says. Of one in a block sum and dictionary
// alone: with another place or size it would be other bytes. A row is healed only if its bytes,
// read in some way, hash to its id. Then nothing else can be wrong with it.
Result<bool> HealBlobRow(TableWrites& writes, const Fault& fault) {
  KILN_TRY(const std::optional<Blob> blob, writes.reads().FindBlob(fault.key.id));
  const std::optional<HealedBlob> healed =
      blob.has_value() ? HealBlob(writes.reads(), fault.key.id, *blob) : std::nullopt;
  if (!healed.has_value()) {
    return false;
  }
  KILN_TRY(const bool in_block, LiesInBlock(writes, fault.row));
  if (in_block) {
    KILN_TRY(Statement heal, writes.connection().Prepare(
                                 "UPDATE blob SET sum=?2, data=x'', dict=(SELECT k.dict FROM block"
                                 "  AS k WHERE k.bid=blob.block) WHERE rid=?1"));
    Query query(heal);
    KILN_TRY_VOID(query.Bind(fault.row).Bind(healed->sum).Run());
    return true;
  }
  KILN_TRY(Statement statement,
           writes.connection().Prepare(
               "UPDATE blob SET raw_size=?2, codec=?3, dict=?4, sum=?5 WHERE rid=?1"));
  Query query(statement);
  KILN_TRY_VOID(query.Bind(fault.row)
                    .Bind(static_cast<int64_t>(healed->raw_size))
                    .Bind(static_cast<int64_t>(healed->codec))
                    .Bind(int64_t{healed->dictionary})
                    .Bind(healed->sum)
                    .Run());
  return true;
}

// Kind, cost and expiry as the record says.
Result<bool> HealColumns(TableWrites& writes, const Fault& fault) {
  KILN_TRY(const std::optional<StoredRow> row, writes.reads().FindRow(fault.key));
  if (!row.has_value()) {
    return false;
  }
  const Result<RowSummary> summary = SummarizeRow(fault.key.level, row->value.bytes);
  if (!summary.ok()) {
    return false;
  }
  std::optional<int64_t> expires_s;
  // A poison record without a time would stay for ever.
  if (summary->kind == RecordKind::kPoison) {
    expires_s = row->expires_s.value_or(writes.NowSeconds());
  }
  KILN_TRY(Statement statement,
           writes.connection().Prepare(
               "UPDATE entry SET kind=?2, cost_us=?3, expires_s=?4 WHERE eid=?1"));
  Query query(statement);
  KILN_TRY_VOID(query.Bind(row->eid)
                    .Bind(static_cast<int64_t>(summary->kind))
                    .Bind(static_cast<int64_t>(summary->cost_us))
                    .Bind(expires_s)
                    .Run());
  return true;
}

// A reference is right if both ends are there and the record names the content.
Result<void> SetReference(TableWrites& writes, const Fault& fault) {
  // The reference goes in any case. If the record names content that is there, it is written again
  // from what the record says.
  KILN_TRY_VOID(Run(writes, "DELETE FROM ref WHERE eid=?1 AND rid=?2", fault.row, fault.other_row));
  if (fault.key.id.zero()) {
    return {};
  }
  KILN_TRY(const std::optional<StoredRow> row, writes.reads().FindRow(fault.key));
  const Result<RowSummary> summary = row.has_value()
                                         ? SummarizeRow(fault.key.level, row->value.bytes)
                                         : Result<RowSummary>(RowSummary{});
  for (const Product& product : summary.ok() ? summary->products : std::vector<Product>()) {
    KILN_TRY(Statement statement,
             writes.connection().Prepare("INSERT INTO ref SELECT ?1, rid FROM blob WHERE id=?2"
                                         " ON CONFLICT DO NOTHING"));
    Query query(statement);
    KILN_TRY_VOID(query.Bind(row->eid).Bind(product.digest.id).Run());
  }
  return {};
}

// An empty block goes; another one gets beside it what its bytes say.
Result<void> MendBlock(TableWrites& writes, const Fault& fault) {
  KILN_TRY_VOID(Run(writes,
                    "DELETE FROM block WHERE bid=?1 AND NOT EXISTS"
                    " (SELECT 1 FROM blob WHERE blob.block=?2 AND blob.block<>0)",
                    fault.row, fault.row));
  KILN_TRY(const StoredBlock block, writes.reads().FindBlock(fault.row));
  const std::optional<HealedBlob> healed = HealBlock(writes.reads(), block);
  if (!healed.has_value() || block.stored.owner == nullptr) {
    return {};
  }
  {
    KILN_TRY(Statement heal,
             writes.connection().Prepare(
                 "UPDATE block SET id=?2, raw_size=?3, codec=?4, dict=?5 WHERE bid=?1"));
    Query query(heal);
    KILN_TRY_VOID(query.Bind(fault.row)
                      .Bind(healed->sum)
                      .Bind(static_cast<int64_t>(healed->raw_size))
                      .Bind(static_cast<int64_t>(healed->codec))
                      .Bind(int64_t{healed->dictionary})
                      .Run());
  }
  return Run(writes, "UPDATE blob SET dict=?2 WHERE block=?1 AND block<>0 AND codec=3", fault.row,
             healed->dictionary);
}

Result<void> DropBlobRow(TableWrites& writes, const Fault& fault) {
  if (fault.key.id.zero()) {
    return writes.removals().DropBlobRow(fault.row);
  }
  return writes.removals().DropDamaged(
      {.kind = DamageKind::kBlob, .key = fault.key, .reason = fault.detail, .found = {}});
}

// A record without a key cannot be looked up, so nothing of it can be put into quarantine; its row
// goes all the same.
Result<void> DropRecordRow(TableWrites& writes, const Fault& fault) {
  if (!fault.key.id.zero()) {
    KILN_TRY(const std::optional<StoredRow> row, writes.reads().FindRow(fault.key));
    KILN_TRY_VOID(writes.removals().Quarantine(FaultKindName(fault.kind), fault.key.id,
                                               fault.detail,
                                               row.has_value() ? row->value.bytes : ByteView()));
  }
  return writes.removals().DropRecord(fault.row, RemovedBy::kDamage);
}

Result<void> DropAliasRow(TableWrites& writes, const Fault& fault) {
  return writes.removals().DropDamaged(
      {.kind = DamageKind::kAlias, .key = fault.key, .reason = fault.detail, .found = {}});
}

Result<void> DropExplainRow(TableWrites& writes, const Fault& fault) {
  KILN_TRY(Statement statement,
           writes.connection().Prepare("DELETE FROM explain WHERE slot=?1 AND seq=?2"));
  Query query(statement);
  KILN_TRY_VOID(query.Bind(fault.key.id).Bind(fault.row).Run());
  return writes.connection().Execute("DELETE FROM explain WHERE length(slot)<>16");
}

// Whether the row stayed. Runs inside a transaction. Each kind of fault has one way to be mended; a
// kind without one does not compile.
Result<bool> MendRow(TableWrites& writes, const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kDatabase:
    case FaultKind::kSchema:
    case FaultKind::kIndex:
      return true;  // of the whole file
    case FaultKind::kBlobSize: {
      KILN_TRY(const bool healed, HealBlobRow(writes, fault));
      if (healed) {
        return true;
      }
      KILN_TRY_VOID(DropBlobRow(writes, fault));
      return false;
    }
    case FaultKind::kColumns:
      return HealColumns(writes, fault);
    case FaultKind::kBlock:
      KILN_TRY_VOID(MendBlock(writes, fault));
      return true;
    case FaultKind::kReference:
      KILN_TRY_VOID(SetReference(writes, fault));
      return true;
    case FaultKind::kBlob:
      KILN_TRY_VOID(DropBlobRow(writes, fault));
      return false;
    case FaultKind::kRecord:
    case FaultKind::kDangling:
      KILN_TRY_VOID(DropRecordRow(writes, fault));
      return false;
    case FaultKind::kAlias:
      KILN_TRY_VOID(DropAliasRow(writes, fault));
      return false;
    case FaultKind::kPin:
      KILN_TRY_VOID(
          Run(writes, "DELETE FROM pin_entry WHERE eid=?1 AND pin=?2", fault.row, fault.other_row));
      return true;
    case FaultKind::kExplain:
      KILN_TRY_VOID(DropExplainRow(writes, fault));
      return false;
    case FaultKind::kDictionary:
      KILN_TRY_VOID(writes.removals().DropDamagedDictionary(fault.row));
      return false;
  }
  KILN_UNREACHABLE();
}

// Records that go if the row of the fault does not stay. Faults of other kinds take no record with
// them.
Result<std::set<Key>> RecordsOf(TableWrites& writes, const Fault& fault) {
  std::set<Key> records;
  const bool is_blob = fault.kind == FaultKind::kBlob || fault.kind == FaultKind::kBlobSize;
  const bool is_record = fault.kind == FaultKind::kRecord || fault.kind == FaultKind::kDangling;
  if (is_record && !fault.key.id.zero()) {
    records.insert(fault.key);
  }
  if (is_blob) {
    KILN_TRY(Statement statement,
             writes.connection().Prepare("SELECT e.space, e.level, e.key FROM ref"
                                         " JOIN entry AS e USING (eid) WHERE ref.rid=?1"));
    Query query(statement);
    query.Bind(fault.row);
    KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
      records.insert({.level = static_cast<Level>(row.Int(1)),
                      .space = static_cast<uint32_t>(row.Int(0)),
                      .id = row.Id(2).value_or(Hash128{})});
    }));
  }
  return records;
}

bool Reports(const VerifyReport& report, FaultKind kind) {
  return std::any_of(report.faults.begin(), report.faults.end(),
                     [&](const Fault& fault) { return fault.kind == kind; });
}

// A stop is looked for between two rows. What was mended until then stays, and a later repair goes
// on.
Result<void> MendRows(SqliteStore& store, const VerifyReport& report, Counts& counts) {
  for (const Fault& fault : report.faults) {
    CheckStop();
    struct Mending {
      std::set<Key> records;
      bool stayed = false;
    };
    auto mending = std::make_shared<Mending>();
    KILN_TRY_VOID(store.Write(
        [mending, fault](TableWrites& writes) -> Result<void> {
          // Asked before anything is dropped: these records may be fetched or compiled again
          // afterwards.
          KILN_TRY(mending->records, RecordsOf(writes, fault));
          KILN_TRY(mending->stayed, MendRow(writes, fault));
          return {};
        },
        {}));
    ++(mending->stayed ? counts.mended : counts.dropped);
    if (!mending->stayed) {
      counts.lost.merge(mending->records);
    }
  }
  return {};
}

}  // namespace

Result<VerifyReport> VerifyStore(SqliteStore& store, const VerifyOptions& options) {
  KILN_TRY(ReaderPool::Loan reader, store.Read({.stop = options.stop}));
  return Verifier(reader.connection(), *reader, options).Run();
}

Result<RepairReport> RepairStore(SqliteStore& store, const std::stop_token& stop) {
  const VerifyOptions options{.stop = stop};
  RepairReport report;
  KILN_TRY_VOID(store.Flush());  // READ_ONLY shows here
  store.AwaitSalvage(stop);      // rows that come back are no reason to repair anything
  KILN_TRY(report.before, VerifyStore(store, options));
  report.after = report.before;
  Counts counts;
  bool reindexed = false;
  // The worst fault decides the round. Rows are mended last, because a wrong index makes right rows
  // look wrong; and an index that is still wrong after it was made anew means that more is damaged
  // than it. Each round is verified, as one fault may hide others.
  for (int round = 0; round < kMostRounds && !report.after.clean(); ++round) {
    const bool whole =
        Reports(report.after, FaultKind::kDatabase) || Reports(report.after, FaultKind::kSchema);
    if (whole || (reindexed && Reports(report.after, FaultKind::kIndex))) {
      KILN_TRY(report.set_aside, store.Rebuild());
      report.rebuilt = true;
    } else if (Reports(report.after, FaultKind::kIndex)) {
      const Result<void> done = store.Write(
          [](TableWrites& writes) { return writes.connection().Execute("REINDEX"); }, {});
      reindexed = true;
      counts.mended += done.ok() ? 1 : 0;
    } else {
      KILN_TRY_VOID(MendRows(store, report.after, counts));
    }
    KILN_TRY(report.after, VerifyStore(store, options));
  }
  report.mended = counts.mended;
  report.dropped = counts.dropped;
  report.lost = std::move(counts.lost);
  return report;
}

}  // namespace kiln::cache::sqlite
