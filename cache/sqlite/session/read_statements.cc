// SPDX-License-Identifier: MIT
// SELECTs and sums. Statements of one connection, used by one thread at a time. Each function runs
// one statement to its end and copies what it gives, so no read transaction outlives a call
// (spec/cache 6.4). Nothing that a column says is believed: numbers are bounded before they
// allocate, and what does not decode is handed on as damage, not as an error.
#include "cache/sqlite/session/read_statements.h"

#include <utility>

#include "cache/compression/codec.h"
#include "cache/compression/content_blocks.h"
#include "compiler/base/hash/checksum.h"

namespace kiln::cache::sqlite {
namespace {

// Long data are not a column of the result: SQLite would copy them in one piece, in which nobody
// can stop. DataOf reads them in parts.
constexpr std::string_view kBlobSql =
    "SELECT b.raw_size, b.codec, b.sum, CASE WHEN length(b.data)<1048576 THEN b.data END, b.block,"
    " b.at, k.id, b.rid, length(b.data) FROM blob AS b"
    " LEFT JOIN block AS k ON k.bid=b.block WHERE b.id=?1";
constexpr std::string_view kBlockSql = "SELECT raw_size, codec, id, data FROM block WHERE bid=?1";
constexpr std::string_view kRowSql =
    "SELECT eid, expires_s, used_q, value, sum, form FROM entry"
    " WHERE space=?1 AND level=?2 AND key=?3";
constexpr std::string_view kFormSql = "SELECT data FROM form WHERE form=?1";
constexpr std::string_view kAliasSql =
    "SELECT a.eid, a.sum, e.key, e.used_q FROM alias AS a"
    " LEFT JOIN entry AS e ON e.eid=a.eid AND e.space=a.space AND e.level=?3"
    " WHERE a.space=?1 AND a.key=?2";
constexpr std::string_view kHasBlobSql = "SELECT raw_size FROM blob WHERE id=?1";
constexpr std::string_view kUnnamedSql =
    "SELECT put_s FROM blob WHERE id=?1 AND NOT EXISTS (SELECT 1 FROM ref WHERE ref.rid=blob.rid)";
constexpr std::string_view kHasRowSql =
    "SELECT 1 FROM entry WHERE space=?1 AND level=?2 AND key=?3";

constexpr std::string_view kDictionarySql = "SELECT id, data FROM dict WHERE dict=?1";
// Kept by a connection. A batch uses few dictionaries and about as many forms as it has programs.
constexpr size_t kKeptDictionaries = 4;
constexpr size_t kKeptForms = 256;

constexpr auto kSignatureLevel = static_cast<int64_t>(Level::kSignature);

// The column copied out; it may be anything, the file is not trusted.
Blob BlobOf(const Query& query, int column) { return CopiedBlob(query.Blob(column)); }

}  // namespace

// Any other number is taken for the codec that needs most. Decoding it then fails, and the row
// counts as damaged.
Codec CodecOf(int64_t column) {
  return column == 0   ? Codec::kRaw
         : column == 1 ? Codec::kZstd
         : column == 3 ? Codec::kBlock
                       : Codec::kZstdDictionary;
}

// Long values are read in parts, so that a stop or deadline ends the read (kLongData). A length
// beyond any value is read as it is, and found damaged by its size.
Result<Blob> DataOf(const Query& query, int column, const char* table, int64_t rid, int64_t size) {
  if (size < kLongData || static_cast<uint64_t>(size) > kMaxValueBytes) {
    return BlobOf(query, column);
  }
  const auto bytes = static_cast<size_t>(size);
  auto owner = std::make_shared_for_overwrite<std::byte[]>(bytes);
  KILN_TRY_VOID(query.ReadLong(table, rid, {owner.get(), bytes}));
  const ByteView view(owner.get(), bytes);
  return Blob{.bytes = view, .owner = std::move(owner), .raw_size = view.size()};
}

uint32_t NumberOfDictionary(const Blob& stored) {
  return stored.codec == Codec::kZstdDictionary ? DictionaryInFrame(stored.bytes).value_or(0) : 0;
}

// Over the key as well as the value: a row that was exchanged with another one is found.
int64_t AliasSum(uint32_t space, const Hash128& alias, const Hash128& signature) {
  Bytes bytes;
  bytes.reserve(36);
  AppendLittle(bytes, space);
  Append(bytes, std::as_bytes(std::span(alias.bytes)));
  Append(bytes, std::as_bytes(std::span(signature.bytes)));
  return static_cast<int64_t>(Checksum64(bytes));
}

Result<ReadStatements> ReadStatements::Prepare(Connection& connection, BlockCache* blocks) {
  ReadStatements reads;
  reads.blocks_ = blocks;
  KILN_TRY(reads.begin_, connection.Prepare("BEGIN"));
  // Of a transaction that only reads it is the same as COMMIT, and cannot be refused.
  KILN_TRY(reads.end_, connection.Prepare("ROLLBACK"));
  KILN_TRY(reads.block_, connection.Prepare(kBlockSql));
  KILN_TRY(reads.blob_, connection.Prepare(kBlobSql));
  KILN_TRY(reads.row_, connection.Prepare(kRowSql));
  KILN_TRY(reads.alias_, connection.Prepare(kAliasSql));
  KILN_TRY(reads.has_blob_, connection.Prepare(kHasBlobSql));
  KILN_TRY(reads.has_row_, connection.Prepare(kHasRowSql));
  KILN_TRY(reads.unnamed_, connection.Prepare(kUnnamedSql));
  KILN_TRY(reads.dictionary_, connection.Prepare(kDictionarySql));
  KILN_TRY(reads.form_, connection.Prepare(kFormSql));
  return reads;
}

Result<std::optional<Blob>> ReadStatements::FindBlob(const Hash128& id) {
  Query query(blob_);
  query.Bind(id);
  KILN_TRY(const bool found, query.Next());
  if (!found) {
    return std::optional<Blob>();
  }
  const auto raw_size = static_cast<uint64_t>(query.Int(0));
  const Codec codec = CodecOf(query.Int(1));
  Blob blob;
  if (codec == Codec::kBlock) {
    // The name of a block has its id, too: a block that was written anew under its number is
    // another one for the caches.
    KILN_TRY(blob, TakeOutOf({.number = query.Int(4), .id = query.Id(6).value_or(Hash128{})},
                             static_cast<uint64_t>(query.Int(5)), raw_size));
  } else {
    KILN_TRY(blob, DataOf(query, 3, "blob", query.Int(7), query.Int(8)));
    blob.codec = codec;
    blob.raw_size = raw_size;
  }
  blob.sum = query.Id(2).value_or(Hash128{});
  return std::optional(std::move(blob));
}

// A block is damage and no error where it is not there, is too large or does not decompress: its
// contents are judged one by one (spec/cache 6.7).
Result<StoredBlock> ReadStatements::FindBlock(int64_t number) {
  StoredBlock block;
  {
    Query query(block_);
    KILN_TRY(const bool found, query.Bind(number).Next());
    if (!found) {
      block.why = "its block is not there";
      return block;
    }
    block.stored = BlobOf(query, 3);
    block.stored.raw_size = static_cast<uint64_t>(query.Int(0));
    block.stored.codec = CodecOf(query.Int(1));
    block.stored.sum = query.Id(2).value_or(Hash128{});
  }
  if (block.stored.raw_size > kMostBlockBytes) {
    block.why = "its block claims to be larger than one may be";
    return block;
  }
  Result<Blob> raw = Decode(block.stored);
  if (!raw.ok() && !raw.error().reason.empty()) {
    return raw.error();
  }
  if (raw.ok()) {
    block.raw = std::move(raw).value();
  } else {
    block.why = raw.error().context;
  }
  return block;
}

// The table of the block that was used last is kept: contents of one variant lie in few blocks.
const SymbolTable* ReadStatements::SymbolsOf(const BlockName& block, ByteView raw) {
  if (!symbols_.has_value() || !(symbols_->first == block)) {
    symbols_.reset();
    if (std::optional<SymbolTable> read = SymbolTable::Read(raw); read.has_value()) {
      symbols_.emplace(block, *std::move(read));
    }
  }
  return symbols_.has_value() ? &symbols_->second : nullptr;
}

// The bytes are copied out: whoever keeps a content must not keep its block.
Result<Blob> ReadStatements::TakeOutOf(const BlockName& block, uint64_t place, uint64_t raw_size) {
  std::optional<Blob> raw = blocks_ != nullptr ? blocks_->Find(block)
                            : last_.has_value() && last_->first == block
                                ? std::optional(last_->second)
                                : std::nullopt;
  Blob stored;
  if (!raw.has_value()) {
    KILN_TRY(StoredBlock read, FindBlock(block.number));
    stored = std::move(read.stored);
    raw = std::move(read.raw);
    if (raw.has_value() && blocks_ != nullptr) {
      blocks_->Put(block, *raw, raw->bytes.size() + sizeof(Blob));
    } else if (raw.has_value()) {
      last_.emplace(block, *raw);
    }
  }
  std::optional<Blob> content;
  if (raw.has_value()) {
    const SymbolTable* const symbols =
        IsPlaceOfModule(place) ? SymbolsOf(block, raw->bytes) : nullptr;
    content = ContentIn(raw->bytes, symbols, place, raw_size);
  }
  if (!content.has_value()) {
    // A content that its block does not give is handed on as damaged, with the bytes of the block
    // for the quarantine.
    stored.codec = Codec::kBlock;
    stored.raw_size = raw_size;
    return stored;
  }
  return *std::move(content);
}

// A record is its form and what is its own (spec/cache 6.3.1). Forms are kept by number; all are
// dropped when there are too many, which is seldom and cheap.
Result<Blob> ReadStatements::ValueOf(int64_t form, ByteView stored) {
  if (form == 0) {
    return CopiedBlob(stored);
  }
  RecordForm* kept = forms_.Find(form);
  if (kept == nullptr) {
    Query query(form_);
    KILN_TRY(const bool found, query.Bind(form).Next());
    std::optional<RecordForm> read = found ? RecordForm::Read(query.Blob(0)) : std::nullopt;
    // A form that is missing or wrong gives the shortened bytes, whose sum then tells that the row
    // is damaged.
    if (!read.has_value() || int64_t{read->number()} != form) {
      return CopiedBlob(stored);
    }
    while (forms_.size() >= kKeptForms) {
      forms_.DropOldest();
    }
    kept = &forms_.Add(form, *std::move(read), 1);
  }
  std::optional<Bytes> record = kept->Expand(stored);
  return record.has_value() ? OwnedBlob(*std::move(record)) : CopiedBlob(stored);
}

Result<std::optional<StoredRow>> ReadStatements::FindRow(const Key& key) {
  Query query(row_);
  query.Bind(int64_t{key.space}).Bind(static_cast<int64_t>(key.level)).Bind(key.id);
  KILN_TRY(const bool found, query.Next());
  if (!found) {
    return std::optional<StoredRow>();
  }
  StoredRow row{.eid = query.Int(0), .used_q = query.Int(2)};
  KILN_TRY(row.value, ValueOf(query.Int(5), query.Blob(3)));
  if (!query.IsNull(1)) {
    row.expires_s = query.Int(1);
  }
  // A sum of the wrong length becomes zero, which no value has: the row is damaged.
  row.value.sum = query.Id(4).value_or(Hash128{});
  return std::optional(std::move(row));
}

Result<std::optional<StoredAlias>> ReadStatements::FindAlias(uint32_t space, const Hash128& key) {
  Query query(alias_);
  query.Bind(int64_t{space}).Bind(key).Bind(kSignatureLevel);
  KILN_TRY(const bool found, query.Next());
  if (!found) {
    return std::optional<StoredAlias>();
  }
  return std::optional(StoredAlias{
      .eid = query.Int(0), .sum = query.Int(1), .signature = query.Id(2), .used_q = query.Int(3)});
}

// Presence alone, without a look at the value: FindMissing asks for thousands. What is damaged
// shows when it is read.
Result<bool> ReadStatements::Has(const Key& key) {
  switch (key.level) {
    case Level::kContent: {
      Query query(has_blob_);
      KILN_TRY(const bool found, query.Bind(key.id).Next());
      return found && HasSize(key, static_cast<uint64_t>(query.Int(0)));
    }
    // An alias whose record is gone leads nowhere and counts as missing.
    case Level::kAlias: {
      KILN_TRY(const std::optional<StoredAlias> alias, FindAlias(key.space, key.id));
      return alias.has_value() && alias->signature.has_value();
    }
    case Level::kModule:
    case Level::kMask:
    case Level::kSignature:
    case Level::kRecipe: {
      Query query(has_row_);
      return query.Bind(int64_t{key.space})
          .Bind(static_cast<int64_t>(key.level))
          .Bind(key.id)
          .Next();
    }
  }
  KILN_UNREACHABLE();
}

// A hit must be complete (spec/cache 8.2): not only the row verifies, all content that it names is
// there as well.
Result<std::optional<Finding>> ReadStatements::CheckRow(const Key& key, const StoredRow& row) {
  if (RowSum(key, row.value.bytes) != row.value.sum) {
    return std::optional(Finding{DamageKind::kRecord, "sum differs"});
  }
  const Result<RowSummary> summary = SummarizeRow(key.level, row.value.bytes);
  if (!summary.ok()) {
    return std::optional(Finding{DamageKind::kRecord, summary.error().context});
  }
  for (const Product& product : summary->products) {
    KILN_TRY(const bool present, Has(ContentKey(product.digest)));
    if (!present) {
      return std::optional(Finding{DamageKind::kDangling,
                                   product.name + " " + product.digest.id.hex() + " is not there"});
    }
  }
  return std::optional<Finding>();
}

Result<std::optional<int64_t>> ReadStatements::UnnamedSince(const Hash128& id) {
  Query query(unnamed_);
  KILN_TRY(const bool found, query.Bind(id).Next());
  return found ? std::optional(query.Int(0)) : std::optional<int64_t>();
}

Result<DictionaryPtr> ReadStatements::FindDictionary(uint32_t number) {
  if (const DictionaryPtr* const kept = dictionaries_.Find(number); kept != nullptr) {
    return *kept;
  }
  Query query(dictionary_);
  query.Bind(int64_t{number});
  KILN_TRY(const bool found, query.Next());
  if (!found) {
    return DictionaryPtr();
  }
  // A dictionary that is not what its number and id say counts as not there. What needs it is then
  // found damaged; decompressed with wrong bytes it would be something else.
  const ByteView bytes = query.Blob(1);
  DictionaryPtr dictionary = Dictionary::Make(Bytes(bytes.begin(), bytes.end()));
  if (CheckDictionary(number, query.Id(0), dictionary).has_value()) {
    return DictionaryPtr();
  }
  while (dictionaries_.size() >= kKeptDictionaries) {
    dictionaries_.DropOldest();
  }
  dictionaries_.Add(number, dictionary, 1);
  return dictionary;
}

// An error with a reason is one of SQLite or of the caller; one without a reason means that the
// bytes are wrong.
Result<Blob> ReadStatements::Decode(const Blob& stored) {
  if (stored.codec != Codec::kZstdDictionary) {
    return Decompress(stored);
  }
  // The frame names its dictionary. The column beside it serves the collector only.
  const std::optional<uint32_t> number = DictionaryInFrame(stored.bytes);
  if (!number.has_value()) {
    return Error{.code = ErrorCode::kCorrupt, .context = "no frame with a dictionary"};
  }
  KILN_TRY(const DictionaryPtr dictionary, FindDictionary(*number));
  if (dictionary == nullptr) {
    return Error{.code = ErrorCode::kCorrupt,
                 .context = "dictionary " + std::to_string(*number) + " is lost"};
  }
  return Decompress(stored, dictionary.get());
}

// Id and sum are different questions. The id tells that these are the bytes; the sum, which has the
// id in it, tells that the row was written for them.
Result<std::optional<Finding>> ReadStatements::CheckContent(const Hash128& id, const Blob& stored) {
  const Result<Blob> raw = Decode(stored);
  if (!raw.ok() && !raw.error().reason.empty()) {
    return raw.error();
  }
  if (!raw.ok()) {
    return std::optional(Finding{DamageKind::kBlob, raw.error().context});
  }
  if (HashBytes(raw->bytes) != id) {
    return std::optional(Finding{DamageKind::kBlob, "content id differs"});
  }
  if (ContentSum(id, raw->bytes) != stored.sum) {
    return std::optional(Finding{DamageKind::kBlob, "sum differs"});
  }
  return std::optional<Finding>();
}

// Its own bytes say its number. Content that was compressed with another dictionary under this
// number would decode to noise.
std::optional<std::string> CheckDictionary(int64_t number, const std::optional<Hash128>& id,
                                           const DictionaryPtr& dictionary) {
  if (dictionary == nullptr) {
    return "it is no trained dictionary";
  }
  if (int64_t{dictionary->number()} != number) {
    return "its bytes have number " + std::to_string(dictionary->number());
  }
  if (id != dictionary->id()) {
    return "its id differs";
  }
  return std::nullopt;
}

std::optional<Finding> CheckAlias(const Key& key, const StoredAlias& alias) {
  if (!alias.signature.has_value()) {
    return Finding{DamageKind::kAlias, "its record is not there"};
  }
  if (AliasSum(key.space, key.id, *alias.signature) != alias.sum) {
    return Finding{DamageKind::kAlias, "sum differs"};
  }
  return std::nullopt;
}

}  // namespace kiln::cache::sqlite
