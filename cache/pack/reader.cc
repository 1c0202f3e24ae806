// SPDX-License-Identifier: MIT
// A pack is immutable once it is open, so all of its functions may be called from any number of
// threads. What they share are two caches with locks of their own (decompressed blocks and tables
// of symbols) and a flag for each block that was checked.
#include "cache/pack/reader.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cache/pack/compression.h"
#include "cache/pack/errors.h"
#include "cache/pack/signing/trust.h"
#include "cache/pack/write/canonical_form.h"
#include "compiler/base/check.h"
#include "compiler/base/hash/checksum.h"
#include "compiler/base/threads/stop.h"

namespace kiln::pack {

Pack::Pack(std::optional<MappedFile> file, ByteView bytes, Tables tables,
           const ReadOptions& options)
    : file_(std::move(file)),
      bytes_(bytes),
      tables_(std::move(tables)),
      options_(options),
      checked_(tables_.blocks.size()),
      recent_(options.cache_bytes),
      symbols_(options.cache_bytes) {}

// The file is mapped and stays so as long as the pack.
Result<std::unique_ptr<Pack>> Pack::Open(const std::string& path, const ReadOptions& options) {
  KILN_TRY(MappedFile file, MappedFile::Open(path));
  const ByteView bytes = file.bytes();
  Result<std::unique_ptr<Pack>> pack = Make(std::move(file), bytes, options);
  if (!pack.ok()) {
    return WithContext(pack.error(), "'" + path + "'");
  }
  return pack;
}

Result<std::unique_ptr<Pack>> Pack::OpenBytes(ByteView bytes, const ReadOptions& options) {
  return Make(std::nullopt, bytes, options);
}

Result<std::unique_ptr<Pack>> Pack::Make(std::optional<MappedFile> file, ByteView bytes,
                                         const ReadOptions& options) {
  std::optional<PublicKey> signer;
  const auto check = [&](const Tables& tables) -> Result<void> {
    // Called between the section table and the first decompression: bytes that are not signed reach
    // no decompressor.
    if (!options.require_signature.empty()) {
      KILN_TRY(signer, CheckSignature(bytes, tables, options.require_signature));
    }
    return {};
  };
  const Tables* const base = options.base == nullptr ? nullptr : &options.base->tables();
  KILN_TRY(
      Tables tables,
      ReadTables(bytes, {.allow_partial = options.allow_partial, .base = base, .check = check}));
  std::unique_ptr<Pack> pack(new Pack(std::move(file), bytes, std::move(tables), options));
  pack->signer_ = signer;
  KILN_TRY_VOID(pack->CheckBase());
  return pack;
}

// A base is as trusted as what is built on it, and has every blob that the delta takes from it.
Result<void> Pack::CheckBase() {
  const Hash128& wanted = tables_.header.base_pack;
  if (wanted.zero()) {
    options_.base = nullptr;
    return {};
  }
  const Pack* base = options_.base.get();  // there: ReadTables has looked
  const std::vector<PublicKey>& accepted = options_.require_signature;
  if (!accepted.empty() &&
      (!base->signer().has_value() ||
       std::find(accepted.begin(), accepted.end(), *base->signer()) == accepted.end())) {
    return PackError(kSignatureMissing, fmt::format("base pack {} was opened without a signature "
                                                    "that is accepted",
                                                    wanted.hex()));
  }
  const Tables& below = base->tables();
  // Both lists are sorted by id, so one walk over the two finds every blob.
  auto there = below.blobs_by_id.begin();
  for (const uint32_t blob : tables_.blobs_by_id) {
    const BlobRow& row = tables_.blobs[blob];
    if ((row.flags & kInBase) == 0) {
      continue;
    }
    while (there != below.blobs_by_id.end() && below.blobs[*there].id < row.id) {
      ++there;
    }
    if (there == below.blobs_by_id.end() || below.blobs[*there].id != row.id ||
        below.blobs[*there].raw_size != row.raw_size) {
      return PackError(kCorrupt, fmt::format("blob {} is not in base pack {}; build the pack again",
                                             row.id.hex(), wanted.hex()));
    }
  }
  return {};
}

// Programs are sorted by name in the file, which the checks of the tables have seen to.
std::optional<uint32_t> Pack::FindProgram(std::string_view name) const {
  const auto found =
      std::partition_point(tables_.programs.begin(), tables_.programs.end(),
                           [&](const ProgramRow& row) { return tables_.String(row.name) < name; });
  if (found == tables_.programs.end() || tables_.String(found->name) != name) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(found - tables_.programs.begin());
}

std::optional<uint32_t> Pack::FindEntry(uint32_t program, std::string_view target) const {
  const ProgramRow& row = tables_.programs[program];
  // An entry for each target: a handful, for which a walk is as quick as a search.
  for (uint32_t i = row.first_entry; i < row.first_entry + row.entry_count; ++i) {
    if (tables_.String(tables_.entries[i].target) == target) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> Pack::FindArtifact(uint32_t entry,
                                           std::span<const cache::TypedValue> values) const {
  const EntryRow& row = tables_.entries[entry];
  const ProgramRow& program = tables_.programs[row.program];
  KILN_CHECK(values.size() == program.option_count);
  std::vector<cache::OptionSetting> live;
  live.reserve(values.size());
  // Each mask says which options some result read. If the values agree with that result on these,
  // its live key is found (spec/cache 3.3). At most 64 masks, each costing one hash and one search.
  for (uint32_t mask_row = row.first_live; mask_row < row.first_live + row.live_count; ++mask_row) {
    const std::span<const uint64_t> mask = tables_.Mask(mask_row);
    live.clear();
    for (uint32_t i = 0; i < program.option_count; ++i) {
      if ((mask[i / 64] >> (i % 64) & 1) != 0) {
        const OptionRow& option = tables_.options[program.first_option + i];
        live.push_back({.name = tables_.String(option.name), .value = values[i]});
      }
    }
    const Hash128 key = cache::LiveKey(row.id, live);
    const std::vector<uint32_t>& order = tables_.artifacts_by_key;
    const auto wanted = std::tie(key, entry);
    const auto found = std::partition_point(order.begin(), order.end(), [&](uint32_t artifact) {
      const ArtifactRow& there = tables_.artifacts[artifact];
      return std::tie(there.live_key, there.entry) < wanted;
    });
    if (found != order.end() && tables_.artifacts[*found].live_key == key &&
        tables_.artifacts[*found].entry == entry) {
      return *found;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> Pack::FindBlob(const Hash128& id) const {
  const std::vector<uint32_t>& order = tables_.blobs_by_id;
  const auto found = std::partition_point(
      order.begin(), order.end(), [&](uint32_t blob) { return tables_.blobs[blob].id < id; });
  return found == order.end() || tables_.blobs[*found].id != id ? std::nullopt
                                                                : std::optional(*found);
}

// The bytes of the file, checked when they are first read.
Result<ByteView> Pack::StoredBlock(uint32_t block) const {
  const BlockRow& row = tables_.blocks[block];
  // Only in a pack that was opened in part.
  if (row.offset + row.stored_size > tables_.data.size()) {
    return PackError(kBlockMissing, fmt::format("block {} of {} is not in the file; fetch the rest",
                                                block, tables_.blocks.size()));
  }
  const ByteView stored = tables_.data.subspan(row.offset, row.stored_size);
  // A flag that two threads set both is set once. It orders nothing else: the bytes are those of a
  // file that does not change.
  if (checked_[block].load(std::memory_order_relaxed)) {
    return stored;
  }
  if (Checksum64(stored) != row.sum) {
    return PackError(kCorrupt, fmt::format("block {} does not have the sum that the index says; "
                                           "fetch or build the pack again",
                                           block));
  }
  // The checksum guards against damage, the hash against a person. It is computed at the first
  // read, so opening a signed pack does not read all of it.
  if (signer_.has_value() && !HasBlockHash(tables_, block, stored)) {
    return PackError(kSignatureBad, fmt::format("block {} does not have the SHA-256 that was "
                                                "signed; get the pack from whoever signs it",
                                                block));
  }
  checked_[block].store(true, std::memory_order_relaxed);
  return stored;
}

// Checked, then decompressed, then remembered. A view keeps its block alive, so nothing is copied
// for a reader.
Result<Pack::Block> Pack::BlockOf(uint32_t block) const {
  if (std::shared_ptr<const Bytes> recent = recent_.Find(block); recent != nullptr) {
    const ByteView raw = *recent;
    return Block{.raw = raw, .owner = std::move(recent)};
  }
  KILN_TRY(const ByteView stored, StoredBlock(block));
  const BlockRow& row = tables_.blocks[block];
  // Served from the mapping, without a copy and without room in the cache.
  if (row.codec == Codec::kRaw && row.stored_size == row.raw_size) {
    return Block{.raw = stored, .owner = nullptr};
  }
  Block prefix;  // as deep as there are links, and one
  if (row.codec == Codec::kZstdAfterBase) {
    KILN_TRY(Bytes bytes, base()->ReadPrefix(row.prefix));
    const auto owner = std::make_shared<const Bytes>(std::move(bytes));
    prefix = {.raw = *owner, .owner = owner};
  } else if (row.codec == Codec::kZstdAfterBlock) {
    // One step only: a prefix block has no prefix within its pack (table_checks.cc).
    KILN_TRY(prefix, BlockOf(row.prefix));
  }
  if (!RatioAllowed(row.raw_size, row.stored_size)) {
    return PackError(kLimit, fmt::format("block {}: {} bytes claim to be {}", block,
                                         row.stored_size, row.raw_size));
  }
  Result<Bytes> decoded = Decompress(row.codec, stored, row.raw_size, prefix.raw);
  if (!decoded.ok()) {
    return WithContext(decoded.error(), fmt::format("block {}", block));
  }
  auto raw = std::make_shared<const Bytes>(std::move(decoded).value());
  // Blobs of a variant lie in few blocks, and the common block serves them all. The cache is
  // bounded in bytes; whoever holds a view keeps its block alive.
  recent_.Add(block, raw, raw->size());
  return Block{.raw = *raw, .owner = raw};
}

Result<Bytes> Pack::ReadBlock(uint32_t block) const {
  KILN_TRY(const Block found, BlockOf(block));
  return Bytes(found.raw.begin(), found.raw.end());
}

// A delta's blocks were compressed behind a block of the base together with that block's own
// prefix, so both are given back, in this order.
Result<Bytes> Pack::ReadPrefix(uint32_t block) const {
  const BlockRow& row = tables_.blocks[block];
  Bytes bytes;
  if (row.codec == Codec::kZstdAfterBlock) {
    KILN_TRY(bytes, ReadBlock(row.prefix));
  }
  KILN_TRY(const Block own, BlockOf(block));
  Append(bytes, own.raw);
  return bytes;
}

Result<cache::Blob> Pack::GetBlob(uint32_t blob) const {
  const BlobRow& row = tables_.blobs[blob];
  if ((row.flags & kInBase) != 0) {
    return base()->GetBlob(*base()->FindBlob(row.id));  // there: CheckBase has looked
  }
  KILN_TRY(Block block, BlockOf(row.block));
  const ByteView stored = block.raw.subspan(row.offset, row.size);
  cache::Blob out{.bytes = stored, .owner = std::move(block.owner), .raw_size = stored.size()};
  if ((row.flags & kModule) != 0) {
    KILN_TRY(out, ModuleOf(row, stored));
  }
  // On every read (spec/cache 1.2): whatever is wrong above this line cannot hand out wrong bytes.
  if (HashBytes(out.bytes) != row.id) {
    return PackError(kCorrupt, fmt::format("blob {} has other bytes; fetch or build the pack again",
                                           row.id.hex()));
  }
  return out;
}

Result<cache::Blob> Pack::ModuleOf(const BlobRow& row, ByteView encoded) const {
  KILN_TRY(const std::shared_ptr<const cache::SymbolTable> symbols, SymbolsOf(row.block));
  Bytes module(row.raw_size);  // bounded: tables have checked it
  if (!cache::DecodeModule(encoded, *symbols, module)) {
    return PackError(kCorrupt, fmt::format("blob {} is no module of {} bytes; fetch or build the "
                                           "pack again",
                                           row.id.hex(), row.raw_size));
  }
  return cache::OwnedBlob(std::move(module));
}

Result<std::shared_ptr<const cache::SymbolTable>> Pack::SymbolsOf(uint32_t of) const {
  // The table stands in the first block of the family, which is the prefix of all others.
  const uint32_t block = tables_.blocks[of].symbol_bytes != 0 ? of : tables_.blocks[of].prefix;
  std::shared_ptr<const cache::SymbolTable> recent = symbols_.Find(block);
  if (recent != nullptr) {
    return recent;
  }
  KILN_TRY(const Block found, BlockOf(block));
  std::optional<cache::SymbolTable> read =
      cache::SymbolTable::Read(found.raw.first(tables_.blocks[block].symbol_bytes));
  if (!read.has_value()) {
    return PackError(kCorrupt, fmt::format("block {} does not begin with a table of symbols; fetch "
                                           "or build the pack again",
                                           block));
  }
  recent = std::make_shared<const cache::SymbolTable>(*std::move(read));
  symbols_.Add(block, recent, recent->memory_bytes());
  return recent;
}

Result<Bytes> Pack::ReadBlob(uint32_t blob) const {
  KILN_TRY(const cache::Blob view, GetBlob(blob));
  return Bytes(view.bytes.begin(), view.bytes.end());
}

// Opening compares checksums, which are not ids.
Result<void> Pack::CheckSectionIds() const {
  for (const SectionEntry& section : tables_.sections) {
    const ByteView bytes = section.kind == SectionKind::kData
                               ? tables_.data
                               : bytes_.subspan(section.offset, section.stored_size);
    if (section.kind != SectionKind::kSignature && HashBytes(bytes) != section.id) {
      return PackError(kCorrupt, fmt::format("section {} is not what the pack's id says; fetch or "
                                             "build the pack again",
                                             SectionName(section.kind)));
    }
  }
  return {};
}

// Everything that opening leaves out: ids of sections, hashes, every block and every blob, and that
// there is no second way to write the same pack.
Result<void> Pack::Verify() const {
  if (tables_.data.size() == tables_.data_size) {  // else it was opened with allow_partial
    KILN_TRY_VOID(CheckSectionIds());
  }
  if (!tables_.hashes.empty()) {
    KILN_TRY_VOID(CheckSectionHashes(bytes_, tables_));
  }
  // Each block is decompressed, even one that no blob names.
  for (uint32_t block = 0; block < tables_.blocks.size(); ++block) {
    CheckStop();
    KILN_TRY_VOID(BlockOf(block));
    KILN_TRY(const ByteView stored, StoredBlock(block));
    if (!tables_.hashes.empty() && !HasBlockHash(tables_, block, stored)) {
      return PackError(kCorrupt,
                       fmt::format("block {} does not have the SHA-256 that HASH says", block));
    }
  }
  std::vector<uint32_t> order(tables_.blobs.size());
  std::iota(order.begin(), order.end(), 0U);
  // By block, so each is decompressed once although the cache may hold only a few.
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return tables_.blobs[a].block < tables_.blobs[b].block;
  });
  for (const uint32_t blob : order) {
    CheckStop();
    KILN_TRY_VOID(GetBlob(blob));
  }
  return CheckCanonicalForm(*this, bytes_);
}

}  // namespace kiln::pack
