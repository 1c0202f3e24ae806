// SPDX-License-Identifier: MIT
#include "cache/pack/reader.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <zstd.h>

#include "cache/pack/errors.h"
#include "compiler/base/check.h"

namespace kiln::pack {

Result<std::unique_ptr<Pack>> Pack::Open(const std::string& path, const ReadOptions& options) {
  KILN_TRY(MappedFile file, MappedFile::Open(path));
  Result<Tables> tables = ReadTables(file.bytes(), options.allow_partial);
  if (!tables.ok()) {
    return WithContext(tables.error(), "'" + path + "'");
  }
  return std::unique_ptr<Pack>(new Pack(std::move(file), std::move(tables).value(), options));
}

Result<std::unique_ptr<Pack>> Pack::OpenBytes(ByteView bytes, const ReadOptions& options) {
  KILN_TRY(Tables tables, ReadTables(bytes, options.allow_partial));
  return std::unique_ptr<Pack>(new Pack(std::nullopt, std::move(tables), options));
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

Result<std::shared_ptr<const Bytes>> Pack::LoadBlock(uint32_t block) const {
  const BlockRow& row = tables_.blocks[block];
  if (row.offset + row.stored_size > tables_.data.size()) {
    return PackError(kBlockMissing, fmt::format("block {} of {} is not in the file; fetch the rest",
                                                block, tables_.blocks.size()));
  }
  const ByteView stored = tables_.data.subspan(row.offset, row.stored_size);
  if (HashBytes(stored) != row.id) {
    return PackError(kCorrupt, fmt::format("block {} does not have the sum that the index says; "
                                           "fetch or build the pack again",
                                           block));
  }
  if (row.codec == Codec::kRaw && row.stored_size == row.raw_size) {
    return std::make_shared<const Bytes>(stored.begin(), stored.end());
  }
  if (row.codec != Codec::kZstd) {
    return PackError(kNeedsNewer,
                     fmt::format("block {} has codec {}", block, static_cast<uint32_t>(row.codec)));
  }
  Bytes raw(row.raw_size);  // at most 65 MiB: checked when the pack was opened
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (size != raw.size()) {
    return PackError(kCorrupt,
                     fmt::format("block {} does not decompress to {} bytes", block, row.raw_size));
  }
  return std::make_shared<const Bytes>(std::move(raw));
}

Result<std::shared_ptr<const Bytes>> Pack::BlockOf(uint32_t block) const {
  {
    const MutexLock lock(mutex_);
    const auto found = std::find_if(recent_.begin(), recent_.end(),
                                    [&](const Block& b) { return b.index == block; });
    if (found != recent_.end()) {
      std::rotate(found, found + 1, recent_.end());
      return recent_.back().raw;
    }
  }
  KILN_TRY(std::shared_ptr<const Bytes> raw, LoadBlock(block));
  const MutexLock lock(mutex_);
  recent_.push_back({.index = block, .raw = raw});
  uint64_t total = 0;
  for (const Block& kept : recent_) {
    total += kept.raw->size();
  }
  while (recent_.size() > 1 && total > options_.cache_bytes) {
    total -= recent_.front().raw->size();
    recent_.erase(recent_.begin());
  }
  return raw;
}

Result<Bytes> Pack::ReadBlob(uint32_t blob) const {
  const BlobRow& row = tables_.blobs[blob];
  KILN_TRY(const std::shared_ptr<const Bytes> raw, BlockOf(row.block));
  const ByteView bytes = ByteView(*raw).subspan(row.offset, row.raw_size);
  if (HashBytes(bytes) != row.id) {
    return PackError(kCorrupt, fmt::format("blob {} has other bytes; fetch or build the pack again",
                                           row.id.hex()));
  }
  return Bytes(bytes.begin(), bytes.end());
}

Result<void> Pack::Verify() const {
  for (uint32_t block = 0; block < tables_.blocks.size(); ++block) {
    KILN_TRY_VOID(BlockOf(block));
  }
  std::vector<uint32_t> order(tables_.blobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return tables_.blobs[a].block < tables_.blobs[b].block;
  });
  for (const uint32_t blob : order) {
    KILN_TRY_VOID(ReadBlob(blob));
  }
  return {};
}

}  // namespace kiln::pack
