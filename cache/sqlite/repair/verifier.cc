// SPDX-License-Identifier: MIT
#include "cache/sqlite/repair/verifier.h"

#include <limits>
#include <utility>

#include "cache/compression/codec.h"
#include "cache/compression/content_blocks.h"
#include "cache/explain/explain_codec.h"
#include "cache/sqlite/schema_check.h"
#include "cache/sqlite/tables/table_pages.h"
#include "compiler/base/threads/slow_step.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int64_t kPageRows = 1000;
constexpr int64_t kValuePageRows = 128;

bool IsAboutAnIndex(std::string_view finding) {
  return finding.find(" index ") != std::string_view::npos;
}

// The sum that the blob is to have if it is the content of this id.
std::optional<Hash128> SumIfItHasId(ReadStatements& reads, const Hash128& id, const Blob& blob) {
  const Result<Blob> raw = reads.Decode(blob);
  return raw.ok() && HashBytes(raw->bytes) == id ? std::optional(ContentSum(id, raw->bytes))
                                                 : std::nullopt;
}

}  // namespace

// The bytes as they are, then as a frame: whichever has the id is what the columns should say.
std::optional<HealedBlob> HealBlob(ReadStatements& reads, const Hash128& id, const Blob& stored) {
  Blob candidate = stored;
  candidate.codec = Codec::kRaw;
  candidate.raw_size = stored.bytes.size();
  if (const std::optional<Hash128> sum = SumIfItHasId(reads, id, candidate)) {
    return HealedBlob{.codec = Codec::kRaw, .raw_size = candidate.raw_size, .sum = *sum};
  }
  const uint32_t dictionary = DictionaryInFrame(stored.bytes).value_or(0);
  candidate.codec = dictionary == 0 ? Codec::kZstd : Codec::kZstdDictionary;
  candidate.raw_size = SizeInFrame(stored.bytes).value_or(std::numeric_limits<uint64_t>::max());
  if (candidate.raw_size > kMaxValueBytes) {
    return std::nullopt;
  }
  if (const std::optional<Hash128> sum = SumIfItHasId(reads, id, candidate)) {
    return HealedBlob{.codec = candidate.codec,
                      .raw_size = candidate.raw_size,
                      .dictionary = dictionary,
                      .sum = *sum};
  }
  return std::nullopt;
}

std::optional<HealedBlob> HealBlock(ReadStatements& reads, const StoredBlock& block) {
  Blob candidate = block.stored;
  if (!block.raw.has_value()) {
    const uint32_t dictionary = DictionaryInFrame(candidate.bytes).value_or(0);
    const std::optional<uint64_t> size = SizeInFrame(candidate.bytes);
    candidate.codec = !size.has_value() ? Codec::kRaw
                      : dictionary == 0 ? Codec::kZstd
                                        : Codec::kZstdDictionary;
    if (!size.has_value() && candidate.raw_size != candidate.bytes.size()) {
      return std::nullopt;
    }
    candidate.raw_size = size.value_or(candidate.raw_size);
    if (candidate.raw_size > kMostBlockBytes || !reads.Decode(candidate).ok()) {
      return std::nullopt;
    }
  }
  return HealedBlob{.codec = candidate.codec,
                    .raw_size = candidate.raw_size,
                    .dictionary = NumberOfDictionary(candidate),
                    .sum = HashBytes(candidate.bytes)};
}

void Verifier::Add(FaultKind kind, const Key& key, std::string detail, int64_t row,
                   int64_t other_row) {
  ++report_.fault_count;
  if (report_.faults.size() < kMaxFaults) {
    report_.faults.push_back({.kind = kind,
                              .key = key,
                              .detail = std::move(detail),
                              .row = row,
                              .other_row = other_row});
  }
}

void Verifier::Note(const Result<void>& part, std::string_view what) {
  // A check that cannot be finished is a fault of the file; the others go on.
  if (!part.ok() && part.error().code != ErrorCode::kCancelled) {
    Add(FaultKind::kDatabase, {}, std::string(what) + ": " + part.error().context);
  }
}

Result<VerifyReport> Verifier::Run() {
  const ReadStatements::FromFile from_file(reads_);  // the rows count, not what was read once
  Measure();
  Note(CheckTables(), "schema");
  Note(CheckIntegrity(), "integrity");
  Note(CheckDictionaries(), "dict");
  Note(CheckBlocks(), "block");
  Note(CheckBlobs(), "blob");
  Note(CheckRecords(), "entry");
  Note(CheckAliases(), "alias");
  Note(CheckReferences(), "ref");
  Note(CheckPins(), "pin_entry");
  Note(CheckExplain(), "explain");
  if (Stopped()) {
    return Error{.code = ErrorCode::kCancelled, .context = "verify was stopped", .reason = {}};
  }
  options_.on_bytes(report_.bytes, report_.bytes);
  return std::move(report_);
}

Result<void> Verifier::CheckTables() {
  KILN_TRY(const SchemaFaults faults, CheckSchema(connection_));
  for (const std::string& name : faults.missing) {
    Add(FaultKind::kSchema, {}, name + " is missing or differs");
  }
  for (const std::string& name : faults.foreign) {
    Add(FaultKind::kSchema, {}, name + " does not belong to this version");
  }
  return {};
}

Result<void> Verifier::CheckIntegrity() {
  KILN_TRY(Statement statement, connection_.Prepare(options_.fast ? "PRAGMA quick_check(100)"
                                                                  : "PRAGMA integrity_check(100)"));
  Query query(statement);
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    if (row.Text(0) != "ok") {
      const std::string finding(row.Text(0));
      Add(IsAboutAnIndex(finding) ? FaultKind::kIndex : FaultKind::kDatabase, {}, finding);
    }
  }));
  return {};
}

// What cannot be measured is no fault of its own: who reads it says what is wrong.
void Verifier::Measure() {
  if (options_.fast || options_.sample_percent % 100 != 0) {
    return;
  }
  for (const char* const sum : {"SELECT coalesce(sum(length(data)), 0) FROM block",
                                "SELECT coalesce(sum(length(data)), 0) FROM blob",
                                "SELECT coalesce(sum(length(data)), 0) FROM dict",
                                "SELECT coalesce(sum(length(value)), 0) FROM entry"}) {
    Result<Statement> statement = connection_.Prepare(sum);
    if (statement.ok()) {
      Query query(*statement);
      const Result<bool> found = query.Next();
      total_ += found.ok() && *found ? static_cast<uint64_t>(query.Int(0)) : 0;
    }
  }
}

// After each row. Of records with many names each takes some milliseconds.
void Verifier::Tell() {
  CheckStopBetweenSlowSteps();
  if (++told_ % options_.rows_between == 0) {
    options_.on_bytes(report_.bytes, total_);
  }
}

bool Verifier::IsSampled(const Hash128& id) const {
  if (options_.fast) {
    return false;
  }
  const uint64_t number = Hash128Hash{}(id) ^ (options_.seed * 0x9E3779B97F4A7C15u);
  return options_.sample_percent == 0 || number % 100 < options_.sample_percent;
}

Result<void> Verifier::CheckBlobs() {
  KILN_TRY(
      Statement statement,
      connection_.Prepare(
          "SELECT b.rid, b.id, b.raw_size, b.codec,"
          " CASE WHEN length(b.data)<1048576 THEN b.data END, b.dict,"
          " EXISTS (SELECT 1 FROM ref WHERE ref.rid=b.rid), b.sum, b.block, b.at, k.id, k.dict,"
          " length(b.data)"
          " FROM blob AS b LEFT JOIN block AS k ON k.bid=b.block"
          // One row for each statement, so no read transaction is longer than a row.
          " WHERE b.rid>?1 ORDER BY b.rid LIMIT 1"));
  for (int64_t rid = std::numeric_limits<int64_t>::min(); !Stopped();) {
    BlobRow row;
    {
      Query query(statement);
      KILN_TRY(const bool found, query.Bind(rid).Next());
      if (!found) {
        return {};
      }
      rid = query.Int(0);
      row = {.rid = rid, .id = query.Id(1), .dictionary = query.Int(5), .block = query.Int(8)};
      row.of_block = query.Int(11);
      row.bytes_in_row = static_cast<uint64_t>(query.Int(12));
      const auto raw_size = static_cast<uint64_t>(query.Int(2));
      if (CodecOf(query.Int(3)) == Codec::kBlock) {
        const BlockName block{.number = row.block, .id = query.Id(10).value_or(Hash128{})};
        KILN_TRY(row.blob, reads_.TakeOutOf(block, static_cast<uint64_t>(query.Int(9)), raw_size));
      } else {
        KILN_TRY(row.blob, DataOf(query, 4, "blob", rid, query.Int(12)));
        row.blob.raw_size = raw_size;
        row.blob.codec = CodecOf(query.Int(3));
        row.block = 0;
      }
      row.blob.sum = query.Id(7).value_or(Hash128{});
      report_.orphans += query.Int(6) == 0 ? 1 : 0;
    }
    ++report_.blobs;
    KILN_TRY_VOID(CheckBlob(row));
    Tell();
  }
  return {};
}

// Blocks first: what lies in one that can be healed is not judged before it is.
Result<void> Verifier::CheckBlocks() {
  KILN_TRY(Statement statement,
           connection_.Prepare("SELECT bid, dict, length(data), EXISTS (SELECT 1 FROM blob"
                               "  WHERE blob.block=k.bid AND blob.block<>0)"
                               " FROM block AS k WHERE bid>?1 ORDER BY bid LIMIT 1"));
  for (int64_t number = std::numeric_limits<int64_t>::min(); !Stopped();) {
    int64_t dictionary = 0;
    bool used = false;
    {
      Query query(statement);
      KILN_TRY(const bool found, query.Bind(number).Next());
      if (!found) {
        return {};
      }
      number = query.Int(0);
      dictionary = query.Int(1);
      report_.bytes += options_.fast ? 0 : static_cast<uint64_t>(query.Int(2));
      used = query.Int(3) != 0;
    }
    KILN_TRY_VOID(CheckBlock(number, dictionary, used));
    Tell();
  }
  return {};
}

// A block that does not decode, whatever is beside it, is the fault of each of its contents.
Result<void> Verifier::CheckBlock(int64_t number, int64_t dictionary, bool used) {
  const auto add = [&](std::string what) {
    to_heal_.insert(number);
    Add(FaultKind::kBlock, {}, "block " + std::to_string(number) + ": " + std::move(what), number);
  };
  if (!used) {
    add("no content lies in it");
    return {};
  }
  if (options_.fast) {
    return {};
  }
  KILN_TRY(const StoredBlock block, reads_.FindBlock(number));
  const std::optional<HealedBlob> right = HealBlock(reads_, block);
  if (right.has_value() &&
      (right->codec != block.stored.codec || right->raw_size != block.stored.raw_size ||
       int64_t{right->dictionary} != dictionary || right->sum != block.stored.sum)) {
    add("id, size, codec or dictionary are not those of the data");
  }
  return {};
}

Result<void> Verifier::CheckDictionaries() {
  KILN_TRY(Statement statement, connection_.Prepare("SELECT dict, id, data FROM dict WHERE dict>?1"
                                                    " ORDER BY dict LIMIT 1"));
  for (int64_t number = std::numeric_limits<int64_t>::min(); !Stopped();) {
    Query query(statement);
    KILN_TRY(const bool found, query.Bind(number).Next());
    if (!found) {
      return {};
    }
    number = query.Int(0);
    const ByteView bytes = query.Blob(2);
    report_.bytes += bytes.size();
    const std::optional<std::string> finding =
        CheckDictionary(number, query.Id(1), Dictionary::Make(Bytes(bytes.begin(), bytes.end())));
    if (finding.has_value()) {
      Add(FaultKind::kDictionary, {}, "dictionary " + std::to_string(number) + ": " + *finding,
          number);
    }
  }
  return {};
}

Result<bool> Verifier::ColumnsFit(const BlobRow& row) {
  if (row.blob.codec == Codec::kBlock) {
    return false;  // the block does not give it
  }
  if (row.block != 0) {
    return row.dictionary == row.of_block && row.bytes_in_row == 0;
  }
  if (row.blob.codec != Codec::kZstdDictionary) {
    return row.dictionary == 0 &&
           (row.blob.codec != Codec::kRaw || row.blob.raw_size == row.blob.bytes.size());
  }
  const uint32_t number = DictionaryInFrame(row.blob.bytes).value_or(0);
  KILN_TRY(const DictionaryPtr found, reads_.FindDictionary(number));
  return number == row.dictionary && found != nullptr;
}

Result<void> Verifier::CheckBlob(const BlobRow& row) {
  const Key key{.level = Level::kContent, .id = row.id.value_or(Hash128{})};
  if (!row.id.has_value()) {
    Add(FaultKind::kBlob, key, "its id has not 16 bytes", row.rid);
    return {};
  }
  // Judged in the next round, when its block is right.
  if (row.block != 0 && to_heal_.contains(row.block)) {
    return {};
  }
  KILN_TRY(const bool fits, ColumnsFit(row));
  // A row whose columns do not fit is always read, as only its bytes tell what is right.
  if (fits && !IsSampled(*row.id)) {
    return {};
  }
  report_.bytes += row.bytes_in_row;
  KILN_TRY(const std::optional<Finding> finding, reads_.CheckContent(*row.id, row.blob));
  if (fits && !finding.has_value()) {
    return {};
  }
  const std::string detail =
      finding.has_value() ? finding->reason : "codec, size or dictionary are not those of the data";
  if (HealBlob(reads_, *row.id, row.blob).has_value()) {
    wrong_sizes_.insert(row.rid);
    Add(FaultKind::kBlobSize, key, detail, row.rid);
  } else {
    Add(FaultKind::kBlob, key, detail, row.rid);
  }
  return {};
}

Verifier::EntryRow Verifier::EntryAt(const Query& query) {
  const ByteView value = query.Blob(7);
  Result<Blob> whole = reads_.ValueOf(query.Int(9), value);
  return {.eid = query.Int(0),
          .space = query.Int(1),
          .level = query.Int(2),
          .id = query.Id(3),
          .kind = query.Int(4),
          .expires = query.Int(5) != 0,
          .cost_us = query.Int(6),
          .value = whole.ok() ? *std::move(whole) : CopiedBlob(value),
          .bytes_in_row = value.size(),
          .sum = query.Id(8)};
}

Result<std::optional<Verifier::EntryRow>> Verifier::EntryOf(int64_t eid) {
  KILN_TRY(Statement statement,
           connection_.Prepare("SELECT eid, space, level, key, kind, expires_s IS NOT NULL,"
                               " cost_us, value, sum, form FROM entry WHERE eid>=?1"
                               " ORDER BY eid LIMIT 1"));
  Query query(statement);
  KILN_TRY(const bool found, query.Bind(eid).Next());
  if (!found) {
    return std::optional<EntryRow>();
  }
  return std::optional(EntryAt(query));
}

Result<void> Verifier::CheckRecords() {
  KILN_TRY(Statement statement,
           connection_.Prepare("SELECT eid, space, level, key, kind, expires_s IS NOT NULL,"
                               " cost_us, value, sum, form FROM entry WHERE eid>?1"
                               " ORDER BY eid LIMIT ?2"));
  for (int64_t eid = std::numeric_limits<int64_t>::min(); !Stopped();) {
    std::vector<EntryRow> page;
    {
      Query query(statement);
      query.Bind(eid).Bind(kValuePageRows);
      KILN_TRY(const int64_t rows,
               query.EachRow([&](const Query& row) { page.push_back(EntryAt(row)); }));
      if (rows == 0) {
        return {};
      }
    }
    for (const EntryRow& row : page) {
      ++report_.records;
      eid = row.eid;
      KILN_TRY_VOID(CheckRecord(row));
      Tell();
    }
  }
  return {};
}

Result<void> Verifier::CheckRecord(const EntryRow& row) {
  const bool known = row.level > static_cast<int64_t>(Level::kContent) &&
                     row.level < static_cast<int64_t>(Level::kAlias) && row.space >= 0 &&
                     row.space <= std::numeric_limits<uint32_t>::max() && row.id.has_value();
  if (!known) {
    Add(FaultKind::kRecord, {}, "row " + std::to_string(row.eid) + " has no key", row.eid);
    return {};
  }
  const Key key{.level = static_cast<Level>(row.level),
                .space = static_cast<uint32_t>(row.space),
                .id = *row.id};
  report_.bytes += row.bytes_in_row;
  if (!row.sum.has_value() || RowSum(key, row.value.bytes) != *row.sum) {
    Add(FaultKind::kRecord, key, "sum differs", row.eid);
    return {};
  }
  const Result<RowSummary> summary = SummarizeRow(key.level, row.value.bytes);
  if (!summary.ok()) {
    Add(FaultKind::kRecord, key, summary.error().context, row.eid);
    return {};
  }
  if (row.kind != static_cast<int64_t>(summary->kind) ||
      row.cost_us != static_cast<int64_t>(summary->cost_us) ||
      row.expires != (summary->kind == RecordKind::kPoison)) {
    Add(FaultKind::kColumns, key, "kind, cost or expiry are not those of the record", row.eid);
  }
  return CheckNamed(row, key, *summary);
}

// Content that the record names is there, and the table of references says the same.
Result<void> Verifier::CheckNamed(const EntryRow& row, const Key& key, const RowSummary& summary) {
  KILN_TRY(Statement find, connection_.Prepare("SELECT rid, raw_size FROM blob WHERE id=?1"));
  KILN_TRY(Statement refs, connection_.Prepare("SELECT rid FROM ref WHERE eid=?1"));
  std::set<int64_t> kept;
  {
    Query query(refs);
    query.Bind(row.eid);
    KILN_TRY([[maybe_unused]] const int64_t rows,
             query.EachRow([&](const Query& ref) { kept.insert(ref.Int(0)); }));
  }
  std::vector<Fault> faults;
  std::set<int64_t> named;
  for (const Product& product : summary.products) {
    Query query(find);
    KILN_TRY(const bool found, query.Bind(product.digest.id).Next());
    const std::string name = product.name + " " + product.digest.id.hex();
    if (!found) {
      faults.push_back({.kind = FaultKind::kDangling, .detail = name + " is not there"});
      continue;
    }
    const int64_t rid = query.Int(0);
    named.insert(rid);
    if (query.Int(1) != static_cast<int64_t>(product.digest.size) && !wrong_sizes_.contains(rid)) {
      faults.push_back(
          {.kind = FaultKind::kRecord, .detail = name + " has another size than the record says"});
    }
    if (!kept.contains(rid)) {
      faults.push_back(
          {.kind = FaultKind::kReference, .detail = name + " is not kept", .other_row = rid});
    }
  }
  for (const int64_t rid : kept) {
    if (!named.contains(rid)) {
      faults.push_back({.kind = FaultKind::kReference,
                        .detail = "content " + std::to_string(rid) + " is kept but not named",
                        .other_row = rid});
    }
  }
  if (faults.empty()) {
    return {};
  }
  KILN_TRY(const std::optional<EntryRow> now, EntryOf(row.eid));  // removed meanwhile?
  if (now.has_value() && now->eid == row.eid && now->sum == row.sum) {
    for (Fault& fault : faults) {
      Add(fault.kind, key, std::move(fault.detail), row.eid, fault.other_row);
    }
  }
  return {};
}

Result<void> Verifier::CheckAliases() {
  KILN_TRY(Statement statement,
           connection_.Prepare("SELECT space, key FROM alias WHERE (space, key)>(?1, ?2)"
                               " ORDER BY space, key LIMIT ?3"));
  int64_t space = -1;
  Bytes last;
  while (!Stopped()) {
    std::vector<Key> page;
    int64_t rows = 0;
    {
      const Bytes after = last;
      Query query(statement);
      query.Bind(space).Bind(ByteView(after)).Bind(kPageRows);
      KILN_TRY(rows, query.EachRow([&](const Query& row) {
        space = row.Int(0);
        last.assign(row.Blob(1).begin(), row.Blob(1).end());
        if (const std::optional<Hash128> id = row.Id(1)) {
          page.push_back(
              {.level = Level::kAlias, .space = static_cast<uint32_t>(space), .id = *id});
        }
      }));
    }
    for (const Key& key : page) {
      ++report_.aliases;
      KILN_TRY(const std::optional<StoredAlias> alias, reads_.FindAlias(key.space, key.id));
      const std::optional<Finding> finding =
          alias.has_value() ? CheckAlias(key, *alias) : std::nullopt;  // removed meanwhile
      if (finding.has_value()) {
        Add(FaultKind::kAlias, key, finding->reason);
      }
    }
    if (rows == 0) {
      return {};
    }
  }
  return {};
}

Result<void> Verifier::CheckReferences() {
  KILN_TRY(Statement statement,
           connection_.Prepare("SELECT r.eid, r.rid, EXISTS (SELECT 1 FROM entry AS e"
                               "  WHERE e.eid=r.eid) AND EXISTS (SELECT 1 FROM blob AS b"
                               "  WHERE b.rid=r.rid)"
                               " FROM ref AS r WHERE (r.eid, r.rid)>(?1, ?2)"
                               " ORDER BY r.eid, r.rid LIMIT ?3"));
  int64_t eid = std::numeric_limits<int64_t>::min();
  int64_t rid = 0;
  const auto bind = [&](Query& query) { query.Bind(eid).Bind(rid).Bind(kPageRows); };
  return EachPage(statement, options_.stop, bind, [&](const Query& row) {
    eid = row.Int(0);
    rid = row.Int(1);
    if (row.Int(2) == 0) {
      Add(FaultKind::kReference, {},
          "record " + std::to_string(eid) + " or content " + std::to_string(rid) + " is not there",
          eid, rid);
    }
  });
}

Result<void> Verifier::CheckPins() {
  KILN_TRY(Statement statement,
           connection_.Prepare("SELECT eid, pin FROM pin_entry AS p WHERE"
                               " NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.eid=p.eid)"
                               " OR NOT EXISTS (SELECT 1 FROM pin WHERE pin.pin=p.pin)"));
  Query query(statement);
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    Add(FaultKind::kPin, {},
        "pin " + std::to_string(row.Int(1)) + " or its record " + std::to_string(row.Int(0)) +
            " is not there",
        row.Int(0), row.Int(1));
  }));
  return {};
}

Result<void> Verifier::CheckExplain() {
  KILN_TRY(Statement statement,
           connection_.Prepare("SELECT slot, seq, body FROM explain WHERE (slot, seq)>(?1, ?2)"
                               " ORDER BY slot, seq LIMIT ?3"));
  Bytes slot;
  Bytes after;
  int64_t seq = std::numeric_limits<int64_t>::min();
  const auto bind = [&](Query& query) {
    after = slot;
    query.Bind(ByteView(after)).Bind(seq).Bind(kPageRows);
  };
  return EachPage(statement, options_.stop, bind, [&](const Query& row) {
    slot.assign(row.Blob(0).begin(), row.Blob(0).end());
    seq = row.Int(1);
    const Key key{.level = Level::kContent, .id = row.Id(0).value_or(Hash128{})};
    const Result<ExplainRecord> record = DecodeExplain(row.Blob(2));
    if (!row.Id(0).has_value() || !record.ok() || record->slot.Id() != key.id) {
      Add(FaultKind::kExplain, key, "explain record " + std::to_string(seq) + " does not decode",
          seq);
    }
  });
}

}  // namespace kiln::cache::sqlite
