// SPDX-License-Identifier: MIT
#include "cache/pack/reader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "cache/pack/errors.h"
#include "cache/pack/trust.h"
#include "compiler/base/check.h"
#include "compiler/base/checksum.h"

namespace kiln::pack {

Pack::Pack(std::optional<MappedFile> file, ByteView bytes, Tables tables,
           const ReadOptions& options, Decoder decoder)
    : file_(std::move(file)),
      bytes_(bytes),
      tables_(std::move(tables)),
      options_(options),
      decoder_(std::move(decoder)),
      checked_(tables_.blocks.size()),
      recent_(options.cache_bytes) {}

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
  KILN_TRY(Tables tables, ReadTables(bytes, options.allow_partial));
  std::optional<PublicKey> signer;
  if (!options.require_signature.empty()) {
    KILN_TRY(signer, CheckSignature(bytes, tables, options.require_signature));
  }
  KILN_TRY(Decoder decoder, Decoder::Make(tables.dictionaries));
  std::unique_ptr<Pack> pack(
      new Pack(std::move(file), bytes, std::move(tables), options, std::move(decoder)));
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
  const Pack* base = options_.base.get();
  if (base == nullptr || base->id() != wanted) {
    return PackError(kBaseMissing, fmt::format("the pack is a delta of pack {}; open that, too, or "
                                               "flatten them where both are",
                                               wanted.hex()));
  }
  if (links() > kMaxLinks) {
    return PackError(
        kLimit, fmt::format("{} packs lie below; at most {}: flatten them", links(), kMaxLinks));
  }
  const std::vector<PublicKey>& accepted = options_.require_signature;
  if (!accepted.empty() &&
      (!base->signer().has_value() ||
       std::find(accepted.begin(), accepted.end(), *base->signer()) == accepted.end())) {
    return PackError(kSignatureMissing, fmt::format("base pack {} was opened without a signature "
                                                    "that is accepted",
                                                    wanted.hex()));
  }
  auto there = base->tables().blobs.begin();
  for (const BlobRow& row : tables_.blobs) {
    if ((row.flags & kInBase) == 0) {
      continue;
    }
    while (there != base->tables().blobs.end() && there->id < row.id) {
      ++there;
    }
    if (there == base->tables().blobs.end() || there->id != row.id ||
        there->raw_size != row.raw_size) {
      return PackError(kCorrupt, fmt::format("blob {} is not in base pack {}; build the pack again",
                                             row.id.hex(), wanted.hex()));
    }
  }
  for (const BlockRow& row : tables_.blocks) {
    if (row.codec == Codec::kZstdAfterBase && row.dictionary >= base->tables().blocks.size()) {
      return PackError(kCorrupt, fmt::format("base pack {} has no block {}; build the pack again",
                                             wanted.hex(), row.dictionary));
    }
  }
  return {};
}

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
    const auto found =
        std::partition_point(tables_.artifacts.begin(), tables_.artifacts.end(),
                             [&](const ArtifactRow& artifact) { return artifact.live_key < key; });
    if (found != tables_.artifacts.end() && found->live_key == key) {
      return static_cast<uint32_t>(found - tables_.artifacts.begin());
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> Pack::FindBlob(const Hash128& id) const {
  const auto found = std::partition_point(tables_.blobs.begin(), tables_.blobs.end(),
                                          [&](const BlobRow& row) { return row.id < id; });
  if (found == tables_.blobs.end() || found->id != id) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(found - tables_.blobs.begin());
}

// The bytes of the file, checked when they are first read.
Result<ByteView> Pack::StoredBlock(uint32_t block) const {
  const BlockRow& row = tables_.blocks[block];
  if (row.offset + row.stored_size > tables_.data.size()) {
    return PackError(kBlockMissing, fmt::format("block {} of {} is not in the file; fetch the rest",
                                                block, tables_.blocks.size()));
  }
  const ByteView stored = tables_.data.subspan(row.offset, row.stored_size);
  if (checked_[block].load(std::memory_order_relaxed)) {
    return stored;
  }
  if (Checksum(stored) != row.sum) {
    return PackError(kCorrupt, fmt::format("block {} does not have the sum that the index says; "
                                           "fetch or build the pack again",
                                           block));
  }
  if (signer_.has_value() && !HasBlockHash(tables_, block, stored)) {
    return PackError(kSignatureBad, fmt::format("block {} does not have the SHA-256 that was "
                                                "signed; get the pack from whoever signs it",
                                                block));
  }
  checked_[block].store(true, std::memory_order_relaxed);
  return stored;
}

Result<Pack::Block> Pack::BlockOf(uint32_t block) const {
  if (std::shared_ptr<const Bytes> recent = recent_.Find(block); recent != nullptr) {
    const ByteView raw = *recent;
    return Block{.raw = raw, .owner = std::move(recent)};
  }
  KILN_TRY(const ByteView stored, StoredBlock(block));
  const BlockRow& row = tables_.blocks[block];
  if (row.codec == Codec::kRaw && row.stored_size == row.raw_size) {
    return Block{.raw = stored, .owner = nullptr};
  }
  Block prefix;
  if (row.codec == Codec::kZstdAfterBase) {
    KILN_TRY(prefix, base()->BlockOf(row.dictionary));  // as deep as there are links
  }
  Result<Bytes> decoded = decoder_.Decode(row, stored, prefix.raw);
  if (!decoded.ok()) {
    return WithContext(decoded.error(), fmt::format("block {}", block));
  }
  auto raw = std::make_shared<const Bytes>(std::move(decoded).value());
  recent_.Add(block, raw);
  return Block{.raw = *raw, .owner = raw};
}

Result<Bytes> Pack::ReadBlock(uint32_t block) const {
  KILN_TRY(const Block found, BlockOf(block));
  return Bytes(found.raw.begin(), found.raw.end());
}

Result<cache::Blob> Pack::GetBlob(uint32_t blob) const {
  const BlobRow& row = tables_.blobs[blob];
  if ((row.flags & kInBase) != 0) {
    return base()->GetBlob(*base()->FindBlob(row.id));  // there: CheckBase has looked
  }
  KILN_TRY(Block block, BlockOf(row.block));
  const ByteView bytes = block.raw.subspan(row.offset, row.raw_size);
  if (HashBytes(bytes) != row.id) {
    return PackError(kCorrupt, fmt::format("blob {} has other bytes; fetch or build the pack again",
                                           row.id.hex()));
  }
  return cache::Blob{.bytes = bytes, .owner = std::move(block.owner), .raw_size = bytes.size()};
}

Result<Bytes> Pack::ReadBlob(uint32_t blob) const {
  KILN_TRY(const cache::Blob view, GetBlob(blob));
  return Bytes(view.bytes.begin(), view.bytes.end());
}

// Opening compares sums, which are no ids.
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

Result<void> Pack::Verify() const {
  if (tables_.data.size() == tables_.data_size) {  // else it was opened with allow_partial
    KILN_TRY_VOID(CheckSectionIds());
  }
  if (!tables_.hashes.empty()) {
    KILN_TRY_VOID(CheckSectionHashes(bytes_, tables_));
  }
  for (uint32_t block = 0; block < tables_.blocks.size(); ++block) {
    KILN_TRY_VOID(BlockOf(block));
    KILN_TRY(const ByteView stored, StoredBlock(block));
    if (!tables_.hashes.empty() && !HasBlockHash(tables_, block, stored)) {
      return PackError(kCorrupt,
                       fmt::format("block {} does not have the SHA-256 that HASH says", block));
    }
  }
  std::vector<uint32_t> order(tables_.blobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return tables_.blobs[a].block < tables_.blobs[b].block;
  });
  for (const uint32_t blob : order) {
    KILN_TRY_VOID(GetBlob(blob));
  }
  return {};
}

}  // namespace kiln::pack
