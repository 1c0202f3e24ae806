// SPDX-License-Identifier: MIT
// Domains and tags of row values:
//   kiln.record.1         1 kind, 2 products, 3 live options?, 4 layout hash?, 5 state id?,
//                         6 cpu µs, 7 limits?, 8 build id
//   kiln.module_record.1  1 kind, 2 products, 3 semantic id?, 6 cpu µs, 8 build id
//   kiln.mask_names.1     1 names
// '?': left out when empty.
// Rows of the levels above content, as bytes and back (spec/cache 4). Encoding is canonical: equal
// values are equal bytes, and decoding refuses every other way to write them. So a row can be
// compared and hashed as bytes.
#include "cache/record.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/hash/canonical.h"

namespace kiln::cache {
namespace {

constexpr std::string_view kRecordDomain = "kiln.record.1";
constexpr std::string_view kModuleDomain = "kiln.module_record.1";
constexpr std::string_view kMaskDomain = "kiln.mask_names.1";

Error Corrupt(std::string_view what) {
  return {.code = ErrorCode::kCorrupt, .context = "record: " + std::string(what)};
}

std::string_view NameOf(const std::string& name) { return name; }
template <class Row>
std::string_view NameOf(const Row& row) {
  return row.name;
}

// Strictly: two equal names are refused as well.
template <class Row>
bool NamesAscend(std::span<const Row> rows) {
  return std::ranges::adjacent_find(
             rows, [](const Row& a, const Row& b) { return NameOf(a) >= NameOf(b); }) == rows.end();
}

template <class Row>
CanonicalList EncodeRows(const std::vector<Row>& rows,
                         void (*append)(CanonicalList& list, const Row& row)) {
  // The writer's own rows are sorted by construction; those of a file are checked when they are
  // read.
  KILN_CHECK(NamesAscend<Row>(rows));
  constexpr size_t kUsualRow = 48;
  CanonicalList list(rows.size() * kUsualRow);
  for (const Row& row : rows) {
    append(list, row);
  }
  return list;
}

// Items of a list in field `tag`, each through `decode`, with ascending names.
template <class Row>
Result<std::vector<Row>> DecodeRows(CanonicalReader& reader, uint8_t tag,
                                    Result<Row> (*decode)(ByteView item)) {
  KILN_TRY(const std::vector<ByteView> items, reader.List(tag));
  std::vector<Row> rows;
  rows.reserve(items.size());
  for (const ByteView item : items) {
    KILN_TRY(Row row, decode(item));
    rows.push_back(std::move(row));
  }
  // One order, so equal records are equal bytes; and looking up by name may rely on it.
  if (!NamesAscend<Row>(rows)) {
    return Corrupt("names do not ascend");
  }
  return rows;
}

// As DecodeRows for a field that is left out when it is empty.
template <class Row>
Result<std::vector<Row>> DecodeOptionalRows(CanonicalReader& reader, uint8_t tag,
                                            Result<Row> (*decode)(ByteView item)) {
  if (!reader.Has(tag)) {
    return std::vector<Row>();
  }
  KILN_TRY(std::vector<Row> rows, DecodeRows<Row>(reader, tag, decode));
  if (rows.empty()) {
    return Corrupt("empty list is present");
  }
  return rows;
}

// A product is a pair of its name and the digest of its content.
void AppendProduct(CanonicalList& list, const Product& product) {
  list.NamedContent(product.name, product.digest);
}

Result<Product> DecodeProduct(ByteView item) {
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 2));
  KILN_TRY(const std::string_view name, DecodeText(parts[0]));
  KILN_TRY(const Digest digest, DecodeContent(parts[1]));
  return Product{.name = std::string(name), .digest = digest};
}

void AppendName(CanonicalList& list, const std::string& name) { list.Text(name); }

Result<std::string> DecodeName(ByteView item) {
  KILN_TRY(const std::string_view name, DecodeText(item));
  return std::string(name);
}

void AppendLimit(CanonicalList& list, const LimitUse& limit) {
  list.List(CanonicalList().Text(limit.name).U64(limit.amount));
}

Result<LimitUse> DecodeLimit(ByteView item) {
  KILN_TRY(const std::vector<ByteView> parts, DecodeTuple(item, 2));
  KILN_TRY(const std::string_view name, DecodeText(parts[0]));
  KILN_TRY(const uint64_t amount, DecodeU64(parts[1]));
  return LimitUse{.name = std::string(name), .amount = amount};
}

// A number of a newer kiln is no record of this one: it is made again.
Result<RecordKind> DecodeKind(CanonicalReader& reader) {
  KILN_TRY(const uint32_t kind, reader.U32(1));
  if (kind > static_cast<uint32_t>(RecordKind::kPoison)) {
    return Corrupt("unknown kind");
  }
  return static_cast<RecordKind>(kind);
}

Result<std::optional<Hash128>> DecodeOptionalHash(CanonicalReader& reader, uint8_t tag) {
  if (!reader.Has(tag)) {
    return std::optional<Hash128>();
  }
  KILN_TRY(const Hash128 id, reader.Hash(tag));
  return std::optional(id);
}

void PutOptionalHash(CanonicalWriter& writer, uint8_t tag, const std::optional<Hash128>& id) {
  if (id.has_value()) {
    writer.Hash(tag, *id);
  }
}

const Digest* FindProduct(const std::vector<Product>& products, std::string_view name) {
  const auto found = std::ranges::find(products, name, &Product::name);
  return found == products.end() ? nullptr : &found->digest;
}

std::vector<Hash128> IdsOf(const std::vector<Product>& products) {
  std::vector<Hash128> ids;
  ids.reserve(products.size());
  for (const Product& product : products) {
    ids.push_back(product.digest.id);
  }
  std::ranges::sort(ids);
  // Two stages may share one module, which is one reference.
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

const Digest* Record::Find(std::string_view name) const { return FindProduct(products, name); }
const Digest* ModuleRecord::Find(std::string_view name) const {
  return FindProduct(products, name);
}

// Tags 6 and 8 mean the same in both kinds of record. The layout hash and the state id are absent
// for records that made no pipeline, such as failures.
Bytes EncodeRecord(const Record& record) {
  CanonicalWriter writer(kRecordDomain);
  writer.U32(1, static_cast<uint32_t>(record.kind));
  writer.List(2, EncodeRows<Product>(record.products, AppendProduct));
  if (!record.live_options.empty()) {
    writer.List(3, EncodeRows<std::string>(record.live_options.all(), AppendName));
  }
  PutOptionalHash(writer, 4, record.layout_hash);
  PutOptionalHash(writer, 5, record.state_id);
  writer.U64(6, record.cpu_us);
  if (!record.limits.empty()) {
    writer.List(7, EncodeRows<LimitUse>(record.limits, AppendLimit));
  }
  writer.Text(8, record.build_id);
  return std::move(writer).bytes();
}

Result<Record> DecodeRecord(ByteView bytes) {
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kRecordDomain));
  Record record;
  KILN_TRY(record.kind, DecodeKind(reader));
  KILN_TRY(record.products, DecodeRows<Product>(reader, 2, DecodeProduct));
  KILN_TRY(record.live_options, DecodeOptionalRows<std::string>(reader, 3, DecodeName));
  KILN_TRY(record.layout_hash, DecodeOptionalHash(reader, 4));
  // A field that the domain does not have ends the reading with an error (Finish), so a newer form
  // is a miss and never half understood.
  KILN_TRY(record.state_id, DecodeOptionalHash(reader, 5));
  KILN_TRY(record.cpu_us, reader.U64(6));
  KILN_TRY(record.limits, DecodeOptionalRows<LimitUse>(reader, 7, DecodeLimit));
  KILN_TRY(record.build_id, reader.Text(8));
  KILN_TRY_VOID(reader.Finish());
  return record;
}

Bytes EncodeModuleRecord(const ModuleRecord& record) {
  CanonicalWriter writer(kModuleDomain);
  writer.U32(1, static_cast<uint32_t>(record.kind));
  writer.List(2, EncodeRows<Product>(record.products, AppendProduct));
  PutOptionalHash(writer, 3, record.semantic_id);
  writer.U64(6, record.cpu_us).Text(8, record.build_id);
  return std::move(writer).bytes();
}

Result<ModuleRecord> DecodeModuleRecord(ByteView bytes) {
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kModuleDomain));
  ModuleRecord record;
  KILN_TRY(record.kind, DecodeKind(reader));
  KILN_TRY(record.products, DecodeRows<Product>(reader, 2, DecodeProduct));
  KILN_TRY(record.semantic_id, DecodeOptionalHash(reader, 3));
  KILN_TRY(record.cpu_us, reader.U64(6));
  KILN_TRY(record.build_id, reader.Text(8));
  KILN_TRY_VOID(reader.Finish());
  return record;
}

Bytes EncodeMask(std::span<const std::string> names) {
  const std::vector<std::string> rows(names.begin(), names.end());
  return CanonicalWriter(kMaskDomain).List(1, EncodeRows<std::string>(rows, AppendName)).bytes();
}

Result<std::vector<std::string>> DecodeMask(ByteView bytes) {
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kMaskDomain));
  KILN_TRY(std::vector<std::string> names, DecodeRows<std::string>(reader, 1, DecodeName));
  KILN_TRY_VOID(reader.Finish());
  return names;
}

// Strictly wider: an equal mask replaces nothing.
bool Widens(ByteView mask, ByteView wider) {
  const Result<std::vector<std::string>> narrow = DecodeMask(mask);
  const Result<std::vector<std::string>> wide = DecodeMask(wider);
  return narrow.ok() && wide.ok() && narrow->size() < wide->size() &&
         std::ranges::includes(*wide, *narrow);
}

Item RecordItem(Level level, uint32_t space, const Hash128& key, const Record& record) {
  KILN_CHECK(level == Level::kSignature || level == Level::kRecipe);
  // The references go along with the row, so the store need not decode it to know what it keeps
  // alive.
  return RowItem({.level = level, .space = space, .id = key}, EncodeRecord(record),
                 IdsOf(record.products));
}

Item ModuleItem(uint32_t space, const Hash128& key, const ModuleRecord& record) {
  return RowItem({.level = Level::kModule, .space = space, .id = key}, EncodeModuleRecord(record),
                 IdsOf(record.products));
}

Item MaskItem(uint32_t space, const Hash128& key, std::span<const std::string> names) {
  return RowItem({.level = Level::kMask, .space = space, .id = key}, EncodeMask(names));
}

Item AliasItem(uint32_t space, const Hash128& variant_or_live, const Hash128& signature) {
  const ByteView id = std::as_bytes(std::span(signature.bytes));
  return RowItem({.level = Level::kAlias, .space = space, .id = variant_or_live},
                 Bytes(id.begin(), id.end()));
}

Result<Hash128> DecodeAlias(ByteView bytes) { return DecodeHash(bytes); }

// The one place that tells what a row keeps alive and what it cost, for store, verify, packs and
// upstreams. It decodes the whole row, so it is the check that a row is one as well.
Result<RowSummary> SummarizeRow(Level level, ByteView value) {
  switch (level) {
    case Level::kContent:
      break;
    case Level::kModule: {
      KILN_TRY(ModuleRecord record, DecodeModuleRecord(value));
      return RowSummary{
          .kind = record.kind, .cost_us = record.cpu_us, .products = std::move(record.products)};
    }
    case Level::kMask: {
      KILN_TRY_VOID(DecodeMask(value));
      return RowSummary{};
    }
    case Level::kSignature:
    case Level::kRecipe: {
      KILN_TRY(Record record, DecodeRecord(value));
      return RowSummary{
          .kind = record.kind, .cost_us = record.cpu_us, .products = std::move(record.products)};
    }
    case Level::kAlias: {
      KILN_TRY_VOID(DecodeAlias(value));
      return RowSummary{};
    }
  }
  KILN_UNREACHABLE();
}

bool SameResult(Level level, ByteView a, ByteView b) {
  if (level == Level::kMask || level == Level::kAlias) {
    return std::ranges::equal(a, b);
  }
  const auto same = [](auto first, auto second) {
    if (!first.ok() || !second.ok()) {
      return false;
    }
    // How long it took and which build made it are not part of the result (spec/cache 4.1).
    first->cpu_us = second->cpu_us = 0;
    first->build_id = second->build_id = {};
    return *first == *second;
  };
  return level == Level::kModule ? same(DecodeModuleRecord(a), DecodeModuleRecord(b))
                                 : same(DecodeRecord(a), DecodeRecord(b));
}

}  // namespace kiln::cache
