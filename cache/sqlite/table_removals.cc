// SPDX-License-Identifier: MIT
// The other half of TableWrites: recency, removal and quarantine.
#include <algorithm>

#include "cache/codec.h"
#include "cache/sqlite/table_writes.h"

namespace kiln::cache::sqlite {
namespace {

constexpr size_t kQuarantineBytes = size_t{64} << 10;  // each
constexpr int64_t kQuarantineRows = 1024;              // so 64 MiB in all

}  // namespace

Result<void> TableWrites::MarkUsed(int64_t eid, int64_t used_q) {
  Query use(use_eid_);
  return use.Bind(eid).Bind(used_q).Run();
}

Result<void> TableWrites::MarkUsed(const Key& key, int64_t used_q) {
  if (key.level == Level::kContent) {
    return {};  // content has no recency of its own: records keep it
  }
  if (key.level == Level::kAlias) {
    Query use(use_alias_);
    return use.Bind(int64_t{key.space}).Bind(key.id).Bind(used_q).Run();
  }
  Query use(use_key_);
  return use.Bind(int64_t{key.space})
      .Bind(static_cast<int64_t>(key.level))
      .Bind(key.id)
      .Bind(used_q)
      .Run();
}

Result<std::vector<int64_t>> TableWrites::RefsOf(int64_t eid) {
  Query query(refs_of_);
  query.Bind(eid);
  std::vector<int64_t> rids;
  KILN_TRY([[maybe_unused]] const int64_t rows,
           query.EachRow([&](const Query& row) { rids.push_back(row.Int(0)); }));
  return rids;
}

Result<void> TableWrites::DropRecord(int64_t eid, RemovedBy why) {
  for (Statement* statement : {&delete_aliases_of_, &delete_pins_of_, &delete_refs_}) {
    Query query(*statement);
    KILN_TRY_VOID(query.Bind(eid).Run());
  }
  Query query(delete_entry_);
  query.Bind(eid);
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    if (const std::optional<Hash128> key = row.Id(0)) {
      counters_->removed.Add(*key, {.by = why, .at_s = NowSeconds()});
    }
  }));
  return {};
}

Result<void> TableWrites::DropOrphans(std::span<const int64_t> rids,
                                      const std::function<bool(const Hash128&)>& keep) {
  for (const int64_t rid : rids) {
    {
      Query find(orphan_id_);
      find.Bind(rid).Bind(NowSeconds() - kGraceSeconds);
      KILN_TRY(const bool orphan, find.Next());
      if (!orphan || keep(find.Id(0).value_or(Hash128{}))) {
        continue;
      }
    }
    Query remove(delete_blob_);
    KILN_TRY_VOID(remove.Bind(rid).Run());
  }
  return {};
}

Result<void> TableWrites::DropBlob(const Hash128& id) {
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
  KILN_TRY(const std::optional<int64_t> rid, RidOf(id));
  if (!rid.has_value()) {
    return {};
  }
  Query query(delete_blob_);
  return query.Bind(*rid).Run();
}

// The item may have been replaced since the reader looked, so what counts is what is found now.
Result<void> TableWrites::DropDamaged(const Damage& damage) {
  const Key& key = damage.key;
  if (key.level == Level::kContent) {
    KILN_TRY(const std::optional<Blob> blob, reads_.FindBlob(key.id));
    if (!blob.has_value()) {
      return {};
    }
    reads_.ForgetDictionaries();
    KILN_TRY(const std::optional<Finding> content_finding, reads_.CheckContent(key.id, *blob));
    if (!content_finding.has_value()) {
      return {};
    }
    KILN_TRY_VOID(Quarantine("blob", key.id, damage.reason, blob->bytes));
    if (const auto number = DictionaryInFrame(blob->bytes)) {
      KILN_TRY_VOID(DropDamagedDictionary(*number));
    }
    return DropBlob(key.id);
  }
  if (key.level == Level::kAlias) {
    KILN_TRY(const std::optional<StoredAlias> alias, reads_.FindAlias(key.space, key.id));
    if (!alias.has_value() || !CheckAlias(key, *alias).has_value()) {
      return {};
    }
    KILN_TRY_VOID(Quarantine("alias", key.id, damage.reason, {}));
    Query query(delete_alias_);
    return query.Bind(int64_t{key.space}).Bind(key.id).Run();
  }
  KILN_TRY(const std::optional<StoredRow> row, reads_.FindRow(key));
  if (!row.has_value()) {
    return {};
  }
  KILN_TRY(std::optional<Finding> finding, reads_.CheckRow(key, *row));
  if (!finding.has_value() && damage.kind == DamageKind::kUnfit &&
      row->value.sum == damage.found.sum) {  // else another one took its place
    finding = Finding{.kind = damage.kind, .reason = damage.reason};
  }
  if (!finding.has_value()) {
    return {};
  }
  KILN_TRY_VOID(
      Quarantine(DamageKindName(finding->kind), key.id, finding->reason, row->value.bytes));
  return DropRecord(row->eid, RemovedBy::kDamage);
}

Result<void> TableWrites::DropDamagedDictionary(int64_t number) {
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

Result<void> TableWrites::DropDictionary(int64_t number) {
  reads_.ForgetDictionaries();
  Query remove(delete_dictionary_);
  return remove.Bind(number).Run();
}

Result<void> TableWrites::Quarantine(std::string_view what, const Hash128& id,
                                     std::string_view reason, ByteView bytes) {
  {
    Query insert(insert_quarantine_);
    insert.Bind(NowSeconds()).Bind(what).Bind(id).Bind(reason);
    insert.Bind(bytes.first(std::min(bytes.size(), kQuarantineBytes)));
    KILN_TRY_VOID(insert.Run());
  }
  Query trim(trim_quarantine_);
  return trim.Bind(connection_->last_insert_rowid() - kQuarantineRows).Run();
}

}  // namespace kiln::cache::sqlite
