// SPDX-License-Identifier: MIT
// Most of this file is what happens when a key is already there. An insert that conflicts changes
// nothing and says so (Connection::writes), which costs less than looking first; only then the
// stored row is read. It stays if it is right, whoever was first: equal bytes count as present,
// other bytes of content as a collision, another result of a key as nondeterminism. It gives way if
// it is damaged, expired, a poison record that a result follows, or a mask that the new one widens.
#include "cache/sqlite/tables/table_writes.h"

#include <algorithm>
#include <utility>

#include "cache/compression/codec.h"

namespace kiln::cache::sqlite {
namespace {

// The grace of content is renewed at most every five minutes, so that putting the same content
// again costs a read and not a write.
constexpr int64_t kRenewAfterSeconds = 300;
// Few programs are built at a time, and a form is a handful of bytes to compare with.
constexpr size_t kRecentForms = 16;
// What a batch puts between two groups of rows; some 600 KiB.
constexpr size_t kRecentContents = 16384;
// Above this size an equal digest counts as equal bytes; comparing them would cost reading what is
// there (spec/cache 2.1.4).
constexpr uint64_t kCompareBytes = uint64_t{64} << 10;
constexpr auto kSignatureLevel = static_cast<int64_t>(Level::kSignature);

Error RefsMissing(const Key& key, std::string_view what, const Hash128& id) {
  return {.code = ErrorCode::kFailedPrecondition,
          .context = KeyText(key) + " names " + std::string(what) + " " + id.hex() +
                     ", which is not stored",
          .reason = std::string(kRefsMissing)};
}

// An insert met a row that a select does not find: an index of the file is damaged.
Error IndexDamaged(const Key& key) {
  return {.code = ErrorCode::kCorrupt,
          .context = KeyText(key) + " conflicts with a row that is not there",
          .reason = std::string(kDamagedFile)};
}

}  // namespace

Result<TableWrites> TableWrites::Prepare(Connection& connection, Clock& clock, Counters& counters,
                                         const Options& options) {
  KILN_TRY(std::unique_ptr<WriteContext> context,
           WriteContext::Prepare(connection, clock, counters));
  KILN_TRY(TableRemovals removals, TableRemovals::Prepare(*context));
  TableWrites writes(std::move(context), std::move(removals), options);
  const std::vector<std::pair<Statement*, std::string_view>> statements = {
      {&writes.insert_blob_,
       "INSERT INTO blob (id, raw_size, codec, put_s, data, dict, sum, block, at)"
       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO NOTHING"},
      {&writes.find_blob_, "SELECT rid, raw_size, put_s, block FROM blob WHERE id=?1"},
      {&writes.find_rid_, "SELECT rid FROM blob WHERE id=?1"},  // the index alone answers
      {&writes.replace_blob_,
       "UPDATE blob SET raw_size=?2, codec=?3, put_s=?4, data=?5, dict=?6, sum=?7, block=?8, at=?9"
       " WHERE rid=?1"},
      {&writes.renew_blob_, "UPDATE blob SET put_s=?2 WHERE rid=?1"},
      {&writes.insert_entry_,
       "INSERT INTO entry (space, level, key, kind, expires_s, used_q, cost_us, value, sum, form)"
       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
       " ON CONFLICT (space, level, key) DO NOTHING"},
      {&writes.insert_form_, "INSERT INTO form VALUES (?1, ?2) ON CONFLICT DO NOTHING"},
      {&writes.find_form_, "SELECT data FROM form WHERE form=?1"},
      {&writes.replace_form_, "UPDATE form SET data=?2 WHERE form=?1"},
      {&writes.widen_mask_, "UPDATE entry SET value=?2, sum=?3, used_q=?4 WHERE eid=?1"},
      // A use only ever moves forward, and a row that was used in this quantum already is not
      // written.
      {&writes.use_eid_, "UPDATE entry SET used_q=?2 WHERE eid=?1 AND used_q<?2"},
      {&writes.use_key_,
       "UPDATE entry SET used_q=?4 WHERE space=?1 AND level=?2 AND key=?3 AND used_q<?4"},
      {&writes.use_alias_,
       "UPDATE entry SET used_q=?3 WHERE eid=(SELECT eid FROM alias WHERE space=?1 AND key=?2)"
       " AND used_q<?3"},
      {&writes.insert_ref_, "INSERT INTO ref VALUES (?1, ?2) ON CONFLICT DO NOTHING"},
      {&writes.insert_alias_,
       "INSERT INTO alias (space, key, eid, sum) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING"},
      {&writes.replace_alias_, "UPDATE alias SET eid=?3, sum=?4 WHERE space=?1 AND key=?2"},
      {&writes.signature_eid_, "SELECT eid FROM entry WHERE space=?1 AND level=?2 AND key=?3"},
      {&writes.dictionary_, "SELECT 1 FROM dict WHERE dict=?1"},
  };
  for (const auto& [statement, sql] : statements) {
    KILN_TRY(*statement, connection.Prepare(sql));
  }
  return writes;
}

Result<PutResult> TableWrites::Put(std::span<const Item> items) {
  PutResult stored;
  // Forms that were written in a transaction which was rolled back are not there.
  forms_.clear();
  Contents contents;
  Numbers signatures;
  // Content first, then the records that name it, then the aliases that lead to them.
  for (const Item& item : items) {
    if (item.key.level == Level::kContent) {
      KILN_TRY_VOID(PutContent(item, stored, contents));
    }
  }
  KILN_TRY_VOID(TidyBlocks(contents));
  for (const Item& item : items) {
    if (item.key.level != Level::kContent && item.key.level != Level::kAlias) {
      KILN_TRY_VOID(PutRecord(item, contents.rids, stored, signatures));
    }
  }
  for (const Item& item : items) {
    if (item.key.level == Level::kAlias) {
      KILN_TRY_VOID(PutAlias(item, stored, signatures));
    }
  }
  return stored;
}

// The row of a content names its dictionary, so that none is dropped while content needs it.
Result<int64_t> TableWrites::DictionaryOf(const Key& key, const Blob& stored) {
  if (stored.codec != Codec::kZstdDictionary) {
    return 0;
  }
  const uint32_t number = NumberOfDictionary(stored);
  Query find(dictionary_);
  KILN_TRY(const bool found, find.Bind(int64_t{number}).Next());
  if (!found) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = KeyText(key) + " needs dictionary " + std::to_string(number) +
                            ", which is not stored",
                 .reason = std::string(kDictionaryGone)};
  }
  used_dictionaries_.insert(number);
  return number;
}

// What the row of a content says and has. One in a block has no bytes of its own.
Codec TableWrites::CodecIn(const Place& place) {
  return place.stored == nullptr ? Codec::kBlock : place.stored->codec;
}

ByteView TableWrites::BytesIn(const Place& place) {
  return place.stored == nullptr ? ByteView() : place.stored->bytes;
}

// The row of a block comes with the first of its contents: their rows name it.
Result<TableWrites::Place> TableWrites::PlaceOf(const Item& item, Contents& contents) {
  if (item.block == nullptr) {
    KILN_TRY(const int64_t dictionary, DictionaryOf(item.key, item.value));
    return Place{.stored = &item.value, .dictionary = dictionary};
  }
  const auto [row, is_new] = contents.blocks.try_emplace(item.block.get());
  if (is_new) {
    KILN_TRY(row->second.dictionary, DictionaryOf(item.key, *item.block));
    KILN_TRY(row->second.number, context_->blocks->Insert(*item.block));
  }
  return Place{.dictionary = row->second.dictionary,
               .block = row->second.number,
               .at = static_cast<int64_t>(item.at)};
}

Result<void> TableWrites::PutContent(const Item& item, PutResult& stored, Contents& contents) {
  KILN_TRY(const Place place, PlaceOf(item, contents));
  {
    Query insert(insert_blob_);
    insert.Bind(item.key.id)
        .Bind(static_cast<int64_t>(item.value.raw_size))
        .Bind(static_cast<int64_t>(CodecIn(place)))
        .Bind(NowSeconds())
        .Bind(BytesIn(place))
        .Bind(place.dictionary)
        .Bind(item.value.sum)
        .Bind(place.block)
        .Bind(place.at);
    KILN_TRY_VOID(insert.Run());
  }
  if (context_->connection.writes() == 1) {
    ++stored.added;
    const int64_t rid = context_->connection.last_insert_rowid();
    contents.rids[item.key.id] = rid;
    Note(item.key.id, rid);
    if (item.block != nullptr) {
      contents.blocks[item.block.get()].used = true;
    }
    return {};
  }
  KILN_TRY(contents.rids[item.key.id], MeetStoredContent(item, place, stored, contents));
  return {};
}

Result<void> TableWrites::TidyBlocks(const Contents& contents) {
  std::vector<int64_t> blocks = contents.left;
  for (const auto& [block, row] : contents.blocks) {
    // All contents of the block were there already: nobody names it.
    if (!row.used) {
      blocks.push_back(row.number);
    }
  }
  return context_->blocks->Tidy(blocks);
}

// The id is there already: equal content stays, damaged content is healed by the new bytes, other
// content of the same id is a collision (spec/cache 2.1.4).
Result<int64_t> TableWrites::MeetStoredContent(const Item& item, const Place& place,
                                               PutResult& stored, Contents& contents) {
  int64_t rid = 0;
  int64_t raw_size = 0;
  int64_t put_s = 0;
  int64_t block = 0;
  {
    Query find(find_blob_);
    find.Bind(item.key.id);
    KILN_TRY(const bool found, find.Next());
    if (!found) {
      return IndexDamaged(item.key);
    }
    rid = find.Int(0);
    raw_size = find.Int(1);
    put_s = find.Int(2);
    block = find.Int(3);
  }
  // Large content of the same size counts as equal by its digest. The stored bytes are read where
  // the size differs or the content is small.
  const bool same_size = raw_size == static_cast<int64_t>(item.value.raw_size);
  if (!same_size || item.value.raw_size <= kCompareBytes) {
    KILN_TRY(const std::optional<Blob> there, context_->reads.FindBlob(item.key.id));
    const bool same_bytes = there.has_value() && there->codec == item.value.codec &&
                            std::ranges::equal(there->bytes, item.value.bytes);
    if (!same_size || !same_bytes) {
      KILN_TRY(const std::optional<Finding> finding,
               context_->reads.CheckContent(item.key.id, there.value_or(Blob{})));
      if (finding.has_value()) {
        ++context_->counters.damage[static_cast<size_t>(DamageKind::kBlob)];
        KILN_TRY_VOID(removals_.Quarantine("blob", item.key.id, finding->reason,
                                           there.value_or(Blob{}).bytes));
        KILN_TRY_VOID(ReplaceContent(rid, item, place));
        if (block != 0) {
          contents.left.push_back(block);
        }
        if (item.block != nullptr) {
          contents.blocks[item.block.get()].used = true;
        }
        ++stored.added;
        return rid;
      }
      // The stored form may differ for equal content, by another dictionary for example. Raw bytes
      // decide.
      const Result<Blob> old_raw = context_->reads.Decode(*there);
      const Result<Blob> new_raw = context_->reads.Decode(item.value);
      if (!old_raw.ok() || !new_raw.ok() || !std::ranges::equal(old_raw->bytes, new_raw->bytes)) {
        return Error{.code = ErrorCode::kAlreadyExists,
                     .context = "other content is stored as " + item.key.id.hex(),
                     .reason = std::string(kCollision)};
      }
    }
  }
  if (put_s + kRenewAfterSeconds < NowSeconds()) {
    Query renew(renew_blob_);  // its grace starts again
    KILN_TRY_VOID(renew.Bind(rid).Bind(NowSeconds()).Run());
  }
  ++stored.present;
  return rid;
}

// The number of the row stays, and with it every reference to the content.
Result<void> TableWrites::ReplaceContent(int64_t rid, const Item& item, const Place& place) {
  Query replace(replace_blob_);
  return replace.Bind(rid)
      .Bind(static_cast<int64_t>(item.value.raw_size))
      .Bind(static_cast<int64_t>(CodecIn(place)))
      .Bind(NowSeconds())
      .Bind(BytesIn(place))
      .Bind(place.dictionary)
      .Bind(item.value.sum)
      .Bind(place.block)
      .Bind(place.at)
      .Run();
}

LruMap<Hash128, int64_t>& TableWrites::Recent() {
  const uint64_t losses = context_->connection.losses();
  if (losses != losses_) {
    recent_.Clear();
    losses_ = losses;
  }
  return recent_;
}

void TableWrites::Note(const Hash128& id, int64_t rid) {
  LruMap<Hash128, int64_t>& recent = Recent();
  if (int64_t* const known = recent.Find(id); known != nullptr) {
    *known = rid;
    return;
  }
  if (recent.size() >= kRecentContents) {
    recent.DropOldest();
  }
  recent.Add(id, rid, 0);
}

Result<std::optional<int64_t>> TableWrites::RidOf(const Hash128& id) {
  if (const int64_t* const recent = Recent().Find(id); recent != nullptr) {
    return std::optional(*recent);
  }
  Query find(find_rid_);
  find.Bind(id);
  KILN_TRY(const bool found, find.Next());
  return found ? std::optional(find.Int(0)) : std::nullopt;
}

Result<std::vector<int64_t>> TableWrites::RidsOf(const Item& item, const Numbers& contents) {
  std::vector<int64_t> rids;
  // Most references are to contents of the same request, whose rows are known without a lookup.
  for (const Hash128& id : item.refs) {
    if (const auto put = contents.find(id); put != contents.end()) {
      rids.push_back(put->second);
      continue;
    }
    KILN_TRY(const std::optional<int64_t> rid, RidOf(id));
    if (!rid.has_value()) {
      return RefsMissing(item.key, "content", id);
    }
    rids.push_back(*rid);
  }
  return rids;
}

Result<void> TableWrites::PutRecord(const Item& item, const Numbers& contents, PutResult& stored,
                                    Numbers& signatures) {
  KILN_TRY(const WrittenValue written, WrittenValueOf(item));
  for (const Product& product : written.summary.products) {
    // References decide what is kept. A row that names less than it needs would lose its content
    // one day.
    if (std::ranges::find(item.refs, product.digest.id) == item.refs.end()) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = KeyText(item.key) + ": " + product.name + " is not among its refs"};
    }
  }
  // Content of this very put is known by number already; only other content is looked up.
  KILN_TRY(const std::vector<int64_t> rids, RidsOf(item, contents));
  KILN_TRY(bool inserted, InsertRecord(item, written, rids));
  if (!inserted) {
    KILN_TRY(inserted, MeetStoredRecord(item, written, stored, rids));
  }
  if (inserted && item.key.level == Level::kSignature && item.key.space == 0) {
    signatures[item.key.id] = inserted_eid_;
  }
  stored.added += inserted ? 1 : 0;
  return {};
}

// False: the key is there. Only poison expires, since a later kiln or a machine with more memory
// may fare better with the same input.
Result<bool> TableWrites::InsertRecord(const Item& item, const WrittenValue& written,
                                       std::span<const int64_t> rids) {
  const RowSummary& summary = written.summary;
  std::optional<int64_t> expires_s;
  if (summary.kind == RecordKind::kPoison) {
    expires_s = NowSeconds() + options_.negative_ttl_s;
  }
  context_->counters.absence.Add(item.key);
  {
    Query insert(insert_entry_);
    insert.Bind(int64_t{item.key.space})
        .Bind(static_cast<int64_t>(item.key.level))
        .Bind(item.key.id)
        .Bind(static_cast<int64_t>(summary.kind))
        .Bind(expires_s)
        .Bind(NowQuantum())
        .Bind(static_cast<int64_t>(summary.cost_us))
        .Bind(written.form == 0 ? item.value.bytes : ByteView(written.shortened))
        .Bind(item.value.sum)
        .Bind(written.form);
    KILN_TRY_VOID(insert.Run());
  }
  if (context_->connection.writes() == 0) {
    return false;
  }
  inserted_eid_ = context_->connection.last_insert_rowid();
  KILN_TRY_VOID(InsertRefs(inserted_eid_, rids));
  return true;
}

// Rows that are put together are mostly of one program, so the last form fits.
Result<TableWrites::WrittenValue> TableWrites::WrittenValueOf(const Item& item) {
  const ByteView record = item.value.bytes;
  const auto with = [&](const RecordForm& form) -> std::optional<WrittenValue> {
    std::optional<Bytes> shortened = form.Shorten(record);
    return shortened.has_value() ? std::optional(WrittenValue{.form = form.number(),
                                                              .shortened = *std::move(shortened),
                                                              .summary = form.SummaryOf(record)})
                                 : std::nullopt;
  };
  const bool has_form = item.key.level == Level::kSignature || item.key.level == Level::kRecipe;
  for (auto form = forms_.rbegin(); has_form && form != forms_.rend(); ++form) {
    // What differs from a record in its gaps alone is one: nothing is decoded.
    if (std::optional<WrittenValue> written = with(*form); written.has_value()) {
      return *std::move(written);
    }
  }
  Result<RowSummary> summary = SummarizeRow(item.key.level, record);
  if (!summary.ok()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = KeyText(item.key) + ": " + summary.error().context};
  }
  WrittenValue whole{.summary = *std::move(summary)};
  std::optional<RecordForm> form = has_form ? RecordForm::Of(record) : std::nullopt;
  if (!form.has_value()) {
    return whole;
  }
  KILN_TRY(const bool has_row, HasForm(*form));
  if (!has_row) {
    return whole;
  }
  if (forms_.size() == kRecentForms) {
    forms_.erase(forms_.begin());
  }
  return with(forms_.emplace_back(*std::move(form))).value_or(std::move(whole));
}

// A row whose number is not that of its bytes is damaged, and healed.
Result<bool> TableWrites::HasForm(const RecordForm& form) {
  const int64_t number = form.number();
  KILN_TRY_VOID(Query(insert_form_).Bind(number).Bind(form.bytes()).Run());
  if (context_->connection.writes() == 1) {
    return true;
  }
  bool is_other = false;
  {
    Query find(find_form_);
    KILN_TRY(const bool found, find.Bind(number).Next());
    if (found && std::ranges::equal(find.Blob(0), form.bytes())) {
      return true;
    }
    const std::optional<RecordForm> there = found ? RecordForm::Read(find.Blob(0)) : std::nullopt;
    // Another form has this number. The record is stored whole, which is always possible.
    is_other = there.has_value() && there->number() == form.number();
  }
  if (is_other) {
    return false;
  }
  KILN_TRY_VOID(Query(replace_form_).Bind(number).Bind(form.bytes()).Run());
  return true;
}

Result<void> TableWrites::InsertRefs(int64_t eid, std::span<const int64_t> rids) {
  for (const int64_t rid : rids) {
    Query insert(insert_ref_);
    KILN_TRY_VOID(insert.Bind(eid).Bind(rid).Run());
  }
  return {};
}

// True if the new record took the place of the stored one. Of two results that differ the first
// stays and both are kept aside, since nobody can tell which is right (spec/cache 4.5).
Result<bool> TableWrites::MeetStoredRecord(const Item& item, const WrittenValue& written,
                                           PutResult& stored, std::span<const int64_t> rids) {
  const RowSummary& summary = written.summary;
  KILN_TRY(const std::optional<StoredRow> there, context_->reads.FindRow(item.key));
  if (!there.has_value()) {
    return IndexDamaged(item.key);
  }
  KILN_TRY(const std::optional<Finding> finding, context_->reads.CheckRow(item.key, *there));
  bool gives_way = there->expires_s.has_value() && *there->expires_s <= NowSeconds();
  if (finding.has_value()) {
    ++context_->counters.damage[static_cast<size_t>(finding->kind)];
    KILN_TRY_VOID(removals_.Quarantine(DamageKindName(finding->kind), item.key.id, finding->reason,
                                       there->value.bytes));
    gives_way = true;
  } else if (!gives_way) {
    KILN_TRY(const RowSummary old, SummarizeRow(item.key.level, there->value.bytes));
    // A result proves that the input does not crash any more.
    gives_way = old.kind == RecordKind::kPoison && summary.kind != RecordKind::kPoison;
  }
  if (gives_way) {
    KILN_TRY_VOID(removals_.DropRecord(
        there->eid, finding.has_value() ? RemovedBy::kDamage : RemovedBy::kExpiry));
    return InsertRecord(item, written, rids);
  }
  if (item.key.level == Level::kMask) {
    return MeetStoredMask(item, *there, stored);
  }
  // That a worker died says nothing about a result that others can compile.
  if (summary.kind == RecordKind::kPoison ||
      SameResult(item.key.level, there->value.bytes, item.value.bytes)) {
    ++stored.present;
    KILN_TRY_VOID(MarkUsed(there->eid, NowQuantum()));
    return false;
  }
  ++stored.nondeterminism;
  ++context_->counters.nondeterminism;
  KILN_TRY_VOID(
      removals_.Quarantine("nondeterminism", item.key.id, "first result", there->value.bytes));
  KILN_TRY_VOID(
      removals_.Quarantine("nondeterminism", item.key.id, "other result", item.value.bytes));
  return false;
}

// No result: masks of one ordinal may differ, and the wider one finds whatever the other does after
// one more walk (spec/cache 3.4).
Result<bool> TableWrites::MeetStoredMask(const Item& item, const StoredRow& there,
                                         PutResult& stored) {
  if (!Widens(there.value.bytes, item.value.bytes)) {
    ++stored.present;
    KILN_TRY_VOID(MarkUsed(there.eid, NowQuantum()));
    return false;
  }
  Query widen(widen_mask_);
  widen.Bind(there.eid).Bind(item.value.bytes).Bind(item.value.sum).Bind(NowQuantum());
  KILN_TRY_VOID(widen.Run());
  return true;
}

// The records of one put are in the transaction and found by number; others must be stored already,
// or the alias would lead nowhere.
Result<int64_t> TableWrites::EidOfSignature(const Item& alias, const Hash128& signature,
                                            const Numbers& signatures) {
  if (alias.key.space == 0) {
    if (const auto put = signatures.find(signature); put != signatures.end()) {
      return put->second;
    }
  }
  Query find(signature_eid_);
  find.Bind(int64_t{alias.key.space}).Bind(kSignatureLevel).Bind(signature);
  KILN_TRY(const bool found, find.Next());
  if (!found) {
    return RefsMissing(alias.key, "signature", signature);
  }
  return find.Int(0);
}

Result<void> TableWrites::PutAlias(const Item& item, PutResult& stored, const Numbers& signatures) {
  const Result<Hash128> signature = DecodeAlias(item.value.bytes);
  if (!signature.ok()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = KeyText(item.key) + ": value is no signature key"};
  }
  // The insert does nothing where the key has an alias, so one statement settles the common case.
  // Only then is the stored one looked at: one that leads nowhere is replaced, one with the same
  // signature is enough, and one with another signature stays, as the first result does (spec/cache
  // 4.5).
  KILN_TRY(const int64_t eid, EidOfSignature(item, *signature, signatures));
  const int64_t sum = AliasSum(item.key.space, item.key.id, *signature);
  const auto write = [&](Statement& statement) {
    Query query(statement);
    return query.Bind(int64_t{item.key.space}).Bind(item.key.id).Bind(eid).Bind(sum).Run();
  };
  KILN_TRY_VOID(write(insert_alias_));
  if (context_->connection.writes() == 1) {
    ++stored.added;
    return {};
  }
  KILN_TRY(const std::optional<StoredAlias> there,
           context_->reads.FindAlias(item.key.space, item.key.id));
  if (!there.has_value() || CheckAlias(item.key, *there).has_value()) {
    ++stored.added;  // it led nowhere or to the wrong record
    return write(replace_alias_);
  }
  if (there->signature == *signature) {
    ++stored.present;
    return {};
  }
  ++stored.nondeterminism;
  ++context_->counters.nondeterminism;
  return removals_.Quarantine("nondeterminism", item.key.id, "leads to another signature",
                              item.value.bytes);
}

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

}  // namespace kiln::cache::sqlite
