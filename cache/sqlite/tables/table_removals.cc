// SPDX-License-Identifier: MIT
// References go in the order that leaves no row naming one that is gone: aliases, pins and
// references of a record before the record, the records of content before the content.
#include "cache/sqlite/tables/table_removals.h"

#include <algorithm>
#include <utility>

#include "cache/compression/codec.h"

namespace kiln::cache::sqlite {
namespace {

constexpr size_t kQuarantineBytes = size_t{64} << 10;  // each
constexpr int64_t kQuarantineRows = 1024;              // so 64 MiB in all

}  // namespace

Result<TableRemovals> TableRemovals::Prepare(WriteContext& context) {
  TableRemovals removals(context);
  const std::vector<std::pair<Statement*, std::string_view>> statements = {
      {&removals.find_blob_, "SELECT rid FROM blob WHERE id=?1"},
      {&removals.delete_blob_, "DELETE FROM blob WHERE rid=?1 RETURNING block"},
      {&removals.orphan_id_,
       "SELECT id FROM blob WHERE rid=?1 AND put_s<?2"
       " AND NOT EXISTS (SELECT 1 FROM ref WHERE ref.rid=?1)"},
      {&removals.find_unnamed_,
       "SELECT rid, put_s FROM blob WHERE id=?1"
       " AND NOT EXISTS (SELECT 1 FROM ref WHERE ref.rid=blob.rid)"},
      {&removals.delete_entry_, "DELETE FROM entry WHERE eid=?1 RETURNING key"},
      {&removals.refs_of_, "SELECT rid FROM ref WHERE eid=?1"},
      {&removals.delete_refs_, "DELETE FROM ref WHERE eid=?1"},
      {&removals.delete_refs_to_, "DELETE FROM ref WHERE rid=?1"},
      {&removals.eids_of_blob_, "SELECT ref.eid FROM ref JOIN blob USING (rid) WHERE blob.id=?1"},
      {&removals.delete_alias_, "DELETE FROM alias WHERE space=?1 AND key=?2"},
      {&removals.delete_aliases_of_, "DELETE FROM alias WHERE eid=?1"},
      {&removals.delete_pins_of_, "DELETE FROM pin_entry WHERE eid=?1"},
      {&removals.dictionary_, "SELECT id, data FROM dict WHERE dict=?1"},
      {&removals.delete_dictionary_, "DELETE FROM dict WHERE dict=?1"},
      {&removals.insert_quarantine_,
       "INSERT INTO quarantine (at_s, what, id, reason, bytes) VALUES (?1, ?2, ?3, ?4, ?5)"},
      {&removals.trim_quarantine_, "DELETE FROM quarantine WHERE qid<=?1"},
  };
  for (const auto& [statement, sql] : statements) {
    KILN_TRY(*statement, context.connection.Prepare(sql));
  }
  return removals;
}

// Asked before a record is dropped: afterwards nobody knows which content it named.
Result<std::vector<int64_t>> TableRemovals::RefsOf(int64_t eid) {
  Query query(refs_of_);
  query.Bind(eid);
  std::vector<int64_t> rids;
  KILN_TRY([[maybe_unused]] const int64_t rows,
           query.EachRow([&](const Query& row) { rids.push_back(row.Int(0)); }));
  return rids;
}

// The content that it named stays. The sweep of orphans takes it when nothing else names it.
Result<void> TableRemovals::DropRecord(int64_t eid, RemovedBy why) {
  for (Statement* statement : {&delete_aliases_of_, &delete_pins_of_, &delete_refs_}) {
    Query query(*statement);
    KILN_TRY_VOID(query.Bind(eid).Run());
  }
  Query query(delete_entry_);
  query.Bind(eid);
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    if (const std::optional<Hash128> key = row.Id(0)) {
      // So that a miss can say later why the result is gone.
      context_->counters.removed.Add(*key, {.by = why, .at_s = context_->NowSeconds()});
    }
  }));
  return {};
}

Result<void> TableRemovals::DropOrphans(std::span<const int64_t> rids,
                                        const std::function<bool(const Hash128&)>& keep) {
  std::vector<int64_t> blocks;
  for (const int64_t rid : rids) {
    {
      Query find(orphan_id_);
      find.Bind(rid).Bind(context_->NowSeconds() - kGraceSeconds);
      KILN_TRY(const bool orphan, find.Next());
      // Named again, too young, or leased by somebody who is about to name it.
      if (!orphan || keep(find.Id(0).value_or(Hash128{}))) {
        continue;
      }
    }
    KILN_TRY_VOID(DeleteBlob(rid, blocks));
  }
  return context_->blocks->Tidy(blocks);
}

Result<std::vector<Hash128>> TableRemovals::DropUnnamed(
    std::span<const Hash128> ids, int64_t before_s,
    const std::function<bool(const Hash128&)>& keep) {
  std::vector<int64_t> blocks;
  std::vector<Hash128> stay;
  for (const Hash128& id : ids) {
    int64_t rid = 0;
    {
      Query find(find_unnamed_);
      KILN_TRY(const bool unnamed, find.Bind(id).Next());
      if (!unnamed) {
        continue;
      }
      if (find.Int(1) >= before_s || keep(id)) {
        stay.push_back(id);
        continue;
      }
      rid = find.Int(0);
    }
    KILN_TRY_VOID(DeleteBlob(rid, blocks));
  }
  KILN_TRY_VOID(context_->blocks->Tidy(blocks));
  return stay;
}

// Its block may have lost its last content by that. Blocks are tidied once, after all contents have
// gone.
Result<void> TableRemovals::DeleteBlob(int64_t rid, std::vector<int64_t>& blocks) {
  Query query(delete_blob_);
  query.Bind(rid);
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    if (row.Int(0) != 0) {
      blocks.push_back(row.Int(0));
    }
  }));
  return {};
}

// For a repair: a row without a usable id, which DropBlob could not name.
Result<void> TableRemovals::DropBlobRow(int64_t rid) {
  {
    Query query(delete_refs_to_);
    KILN_TRY_VOID(query.Bind(rid).Run());
  }
  std::vector<int64_t> blocks;
  KILN_TRY_VOID(DeleteBlob(rid, blocks));
  return context_->blocks->Tidy(blocks);
}

// All records that name the content go first: a hit is complete, or it is a miss. See spec/cache
// 1.5
Result<void> TableRemovals::DropBlob(const Hash128& id) {
  std::vector<int64_t> eids;
  {
    Query query(eids_of_blob_);
    query.Bind(id);
    KILN_TRY([[maybe_unused]] const int64_t rows,
             query.EachRow([&](const Query& row) { eids.push_back(row.Int(0)); }));
  }
  for (const int64_t eid : eids) {
    KILN_TRY_VOID(DropRecord(eid, RemovedBy::kDamage));
  }
  int64_t rid = 0;
  {
    Query find(find_blob_);
    KILN_TRY(const bool found, find.Bind(id).Next());
    if (!found) {
      return {};
    }
    rid = find.Int(0);
  }
  std::vector<int64_t> blocks;
  KILN_TRY_VOID(DeleteBlob(rid, blocks));
  return context_->blocks->Tidy(blocks);
}

// The item may have been replaced since the reader looked, so what counts is what is found now.
Result<void> TableRemovals::DropDamaged(const Damage& damage) {
  if (damage.key.level == Level::kContent) {
    return DropDamagedContent(damage);
  }
  return damage.key.level == Level::kAlias ? DropDamagedAlias(damage) : DropDamagedRecord(damage);
}

// A dictionary that is damaged makes all content that needs it look damaged: it goes, too, so that
// the next content is not compressed with it.
Result<void> TableRemovals::DropDamagedContent(const Damage& damage) {
  const Hash128& id = damage.key.id;
  const ReadStatements::FromFile from_file(context_->reads);
  KILN_TRY(const std::optional<Blob> blob, context_->reads.FindBlob(id));
  if (!blob.has_value()) {
    return {};
  }
  KILN_TRY(const std::optional<Finding> finding, context_->reads.CheckContent(id, *blob));
  if (!finding.has_value()) {
    return {};
  }
  // Kept for whoever looks into the damage, cut to 64 KiB.
  KILN_TRY_VOID(Quarantine("blob", id, damage.reason, blob->bytes));
  if (const auto number = DictionaryInFrame(blob->bytes)) {
    KILN_TRY_VOID(DropDamagedDictionary(*number));
  }
  return DropBlob(id);
}

// An alias is made again by the next walk, so nothing of it is kept aside but the fact.
Result<void> TableRemovals::DropDamagedAlias(const Damage& damage) {
  const Key& key = damage.key;
  KILN_TRY(const std::optional<StoredAlias> alias, context_->reads.FindAlias(key.space, key.id));
  if (!alias.has_value() || !CheckAlias(key, *alias).has_value()) {
    return {};
  }
  KILN_TRY_VOID(Quarantine("alias", key.id, damage.reason, {}));
  Query query(delete_alias_);
  return query.Bind(int64_t{key.space}).Bind(key.id).Run();
}

// A record that is what it says may still be unfit: its reader could not make use of it. Then it
// goes only if it is the one that the reader had, which its sum tells.
Result<void> TableRemovals::DropDamagedRecord(const Damage& damage) {
  const Key& key = damage.key;
  KILN_TRY(const std::optional<StoredRow> row, context_->reads.FindRow(key));
  if (!row.has_value()) {
    return {};
  }
  KILN_TRY(std::optional<Finding> finding, context_->reads.CheckRow(key, *row));
  if (!finding.has_value() && damage.kind == DamageKind::kUnfit &&
      row->value.sum == damage.found.sum) {
    finding = Finding{.kind = damage.kind, .reason = damage.reason};
  }
  if (!finding.has_value()) {
    return {};
  }
  KILN_TRY_VOID(
      Quarantine(DamageKindName(finding->kind), key.id, finding->reason, row->value.bytes));
  return DropRecord(row->eid, RemovedBy::kDamage);
}

Result<void> TableRemovals::DropDamagedDictionary(int64_t number) {
  Hash128 id;
  Bytes bytes;
  {
    Query query(dictionary_);
    KILN_TRY(const bool found, query.Bind(number).Next());
    if (!found) {
      return {};
    }
    id = query.Id(0).value_or(Hash128{});
    bytes.assign(query.Blob(1).begin(), query.Blob(1).end());
    const std::optional<std::string> finding =
        CheckDictionary(number, query.Id(0), Dictionary::Make(bytes));
    if (!finding.has_value()) {
      return {};
    }
  }
  KILN_TRY_VOID(Quarantine("dictionary", id, "it is damaged", bytes));
  return DropDictionary(number);
}

// Readers forget it first: a number that is given to another dictionary must not find the old one
// in memory.
Result<void> TableRemovals::DropDictionary(int64_t number) {
  context_->reads.ForgetDictionaries();
  Query remove(delete_dictionary_);
  return remove.Bind(number).Run();
}

Result<void> TableRemovals::Quarantine(std::string_view what, const Hash128& id,
                                       std::string_view reason, ByteView bytes) {
  {
    Query insert(insert_quarantine_);
    insert.Bind(context_->NowSeconds()).Bind(what).Bind(id).Bind(reason);
    insert.Bind(bytes.first(std::min(bytes.size(), kQuarantineBytes)));
    KILN_TRY_VOID(insert.Run());
  }
  Query trim(trim_quarantine_);
  // Numbers ascend, so the oldest rows are those below.
  return trim.Bind(context_->connection.last_insert_rowid() - kQuarantineRows).Run();
}

}  // namespace kiln::cache::sqlite
