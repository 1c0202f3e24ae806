// SPDX-License-Identifier: MIT
// Nothing is believed before it is checked, and nothing is allocated by a size that a file names.
#include "cache/pack/tables.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "cache/pack/errors.h"

namespace kiln::pack {
namespace {

template <class... Args>
Error Corrupt(fmt::format_string<Args...> format, Args&&... args) {
  return PackError(kCorrupt, fmt::format(format, std::forward<Args>(args)...) +
                                 "; fetch or build the pack again");
}

// [first, first + count) within `size`?
bool InRange(uint64_t first, uint64_t count, uint64_t size) {
  return first <= size && count <= size - first;
}

template <class Row>
Result<std::span<const Row>> RowsOf(const SectionEntry& section, ByteView bytes) {
  if (bytes.size() % sizeof(Row) != 0 || bytes.size() / sizeof(Row) != section.rows) {
    return Corrupt("section {}: {} bytes are not {} rows", SectionName(section.kind), bytes.size(),
                   section.rows);
  }
  return std::span(reinterpret_cast<const Row*>(bytes.data()), section.rows);
}

class TableReader {
 public:
  TableReader(ByteView bytes, bool allow_partial) : bytes_(bytes), partial_(allow_partial) {}

  Result<Tables> Read() {
    KILN_TRY_VOID(ReadHeader());
    KILN_TRY_VOID(ReadSectionTable());
    for (const SectionEntry& section : tables_.sections) {
      KILN_TRY_VOID(ReadSection(section));
    }
    KILN_TRY_VOID(CheckPrograms());
    KILN_TRY_VOID(CheckArtifacts());
    KILN_TRY_VOID(CheckBlobs());
    return std::move(tables_);
  }

 private:
  Result<void> ReadHeader();
  Result<void> ReadSectionTable();
  Result<void> CheckSection(const SectionEntry& section);
  Result<void> ReadSection(const SectionEntry& section);
  Result<void> ReadStrings(const SectionEntry& section, ByteView bytes);
  Result<void> ReadLive(const SectionEntry& section, ByteView bytes);
  Result<void> CheckPrograms();
  Result<void> CheckArtifacts();
  Result<void> CheckBlobs();
  bool IsString(uint32_t string) const { return string < tables_.string_ends.size(); }

  ByteView bytes_;
  const bool partial_;
  Tables tables_;
};

Result<void> TableReader::ReadHeader() {
  if (bytes_.size() < sizeof(Header)) {
    const size_t known = std::min(bytes_.size(), kMagic.size());
    if (std::memcmp(bytes_.data(), kMagic.data(), known) != 0) {
      return PackError(kNotAPack, "the file does not begin like a pack");
    }
    return PackError(kTruncated, fmt::format("needs {} bytes, file has {}; fetch it again",
                                             sizeof(Header), bytes_.size()));
  }
  Header& header = tables_.header;
  std::memcpy(&header, bytes_.data(), sizeof(Header));
  if (header.magic != kMagic) {
    return PackError(kNotAPack, "the file does not begin like a pack");
  }
  if (header.checksum != Hash64(bytes_.first(offsetof(Header, checksum)))) {
    return Corrupt("the header does not have the sum that it says");
  }
  if (header.major != kMajor) {
    return PackError(kNeedsNewer, fmt::format("format {}.{}; this reader knows {}.{}", header.major,
                                              header.minor, kMajor, kMinor));
  }
  if (header.header_size != sizeof(Header) || header.entry_size != sizeof(SectionEntry)) {
    return Corrupt("header of {} bytes, table rows of {}", header.header_size, header.entry_size);
  }
  if (header.section_count > kMaxSections || header.file_size > kMaxFileBytes) {
    return PackError(kLimit,
                     fmt::format("{} sections, {} bytes", header.section_count, header.file_size));
  }
  if (bytes_.size() > header.file_size) {
    return Corrupt("{} bytes behind the end", bytes_.size() - header.file_size);
  }
  return {};
}

Result<void> TableReader::ReadSectionTable() {
  const Header& header = tables_.header;
  const uint64_t size = uint64_t{header.section_count} * sizeof(SectionEntry);
  if (!InRange(header.table_offset, size, header.file_size)) {
    return Corrupt("the section table at {} does not fit", header.table_offset);
  }
  if (!InRange(header.table_offset, size, bytes_.size())) {
    return PackError(
        kTruncated,
        fmt::format("the section table ends at byte {}, the file has {}; fetch the rest",
                    header.table_offset + size, bytes_.size()));
  }
  const ByteView table = bytes_.subspan(header.table_offset, size);
  if (HashBytes(table) != header.pack_id) {
    return Corrupt("the section table does not have the pack's id");
  }
  tables_.sections.resize(header.section_count);
  if (size != 0) {
    std::memcpy(tables_.sections.data(), table.data(), size);
  }
  return {};
}

Result<void> TableReader::CheckSection(const SectionEntry& section) {
  if (!InRange(section.offset, section.stored_size, tables_.header.file_size)) {
    return Corrupt("section {} does not fit", SectionName(section.kind));
  }
  if (section.codec != Codec::kRaw || section.raw_size != section.stored_size) {
    return PackError(kNeedsNewer, fmt::format("section {} has codec {}", SectionName(section.kind),
                                              static_cast<uint32_t>(section.codec)));
  }
  const bool is_data = section.kind == SectionKind::kData;
  if (!is_data && !InRange(section.offset, section.stored_size, bytes_.size())) {
    return PackError(kTruncated, fmt::format("section {} lacks {} bytes; fetch the rest",
                                             SectionName(section.kind),
                                             section.offset + section.stored_size - bytes_.size()));
  }
  if ((section.flags & kMappable) != 0 && section.offset % kPageBytes != 0) {
    return Corrupt("section {} is not aligned", SectionName(section.kind));
  }
  return {};
}

Result<void> TableReader::ReadSection(const SectionEntry& section) {
  KILN_TRY_VOID(CheckSection(section));
  const uint64_t begin = std::min<uint64_t>(section.offset, bytes_.size());
  const uint64_t size = std::min<uint64_t>(section.stored_size, bytes_.size() - begin);
  const ByteView bytes = bytes_.subspan(begin, size);
  if (section.kind == SectionKind::kData) {  // its blocks have sums of their own
    tables_.data = bytes;
    return {};
  }
  if (HashBytes(bytes) != section.id) {
    return Corrupt("section {} does not have the sum that the table says",
                   SectionName(section.kind));
  }
  switch (section.kind) {
    case SectionKind::kInfo:
      tables_.info = bytes;
      return {};
    case SectionKind::kStrings:
      return ReadStrings(section, bytes);
    case SectionKind::kLive:
      return ReadLive(section, bytes);
    case SectionKind::kPrograms: {
      KILN_TRY(tables_.programs, RowsOf<ProgramRow>(section, bytes));
      return {};
    }
    case SectionKind::kOptions: {
      KILN_TRY(tables_.options, RowsOf<OptionRow>(section, bytes));
      return {};
    }
    case SectionKind::kEntries: {
      KILN_TRY(tables_.entries, RowsOf<EntryRow>(section, bytes));
      return {};
    }
    case SectionKind::kArtifacts: {
      KILN_TRY(tables_.artifacts, RowsOf<ArtifactRow>(section, bytes));
      return {};
    }
    case SectionKind::kCode: {
      KILN_TRY(tables_.code, RowsOf<CodeRow>(section, bytes));
      return {};
    }
    case SectionKind::kPipelines: {
      KILN_TRY(tables_.pipelines, RowsOf<PipelineRow>(section, bytes));
      return {};
    }
    case SectionKind::kBlobs: {
      KILN_TRY(tables_.blobs, RowsOf<BlobRow>(section, bytes));
      return {};
    }
    case SectionKind::kBlocks: {
      KILN_TRY(tables_.blocks, RowsOf<BlockRow>(section, bytes));
      return {};
    }
    case SectionKind::kData:
      return {};
  }
  if ((section.flags & kMustUnderstand) != 0) {  // a kind of a newer writer
    return PackError(kNeedsNewer, fmt::format("section {}", SectionName(section.kind)));
  }
  return {};
}

Result<void> TableReader::ReadStrings(const SectionEntry& section, ByteView bytes) {
  const uint32_t count = bytes.size() < 4 ? 0 : ReadLittle<uint32_t>(bytes);
  if (bytes.size() < 4 || count != section.rows || bytes.size() / 4 < uint64_t{count} + 1) {
    return Corrupt("section STRS: {} bytes are not {} strings", bytes.size(), section.rows);
  }
  tables_.string_ends = {reinterpret_cast<const uint32_t*>(bytes.data()) + 1, count};
  tables_.text = bytes.subspan((uint64_t{count} + 1) * 4);
  uint32_t last = 0;
  for (const uint32_t end : tables_.string_ends) {
    if (end < last || end > tables_.text.size()) {
      return Corrupt("section STRS: a string ends at {}", end);
    }
    last = end;
  }
  return {};
}

Result<void> TableReader::ReadLive(const SectionEntry& section, ByteView bytes) {
  if (bytes.size() % sizeof(uint64_t) != 0 || section.rows > bytes.size() / sizeof(uint64_t) ||
      (section.rows == 0) != bytes.empty()) {
    return Corrupt("section LIVE: {} bytes are not {} rows", bytes.size(), section.rows);
  }
  tables_.live = {reinterpret_cast<const uint64_t*>(bytes.data()), bytes.size() / sizeof(uint64_t)};
  if (section.rows != 0) {
    if (tables_.live.size() % section.rows != 0) {
      return Corrupt("section LIVE: rows of different sizes");
    }
    tables_.live_words = static_cast<uint32_t>(tables_.live.size() / section.rows - 1);
  }
  return {};
}

Result<void> TableReader::CheckPrograms() {
  const Tables& t = tables_;
  for (const ProgramRow& row : t.programs) {
    if (!IsString(row.name) || !IsString(row.pipeline) ||
        !InRange(row.first_option, row.option_count, t.options.size()) ||
        !InRange(row.first_entry, row.entry_count, t.entries.size()) ||
        (&row != t.programs.data() && t.String((&row)[-1].name) >= t.String(row.name))) {
      return Corrupt("section PROG: row {}", &row - t.programs.data());
    }
  }
  for (const OptionRow& row : t.options) {
    if (!IsString(row.name) || row.type > 4 ||
        !InRange(row.first_value, row.value_count, t.string_ends.size()) ||
        (row.type == 4 && row.default_bits >= row.value_count)) {
      return Corrupt("section OPTN: row {}", &row - t.options.data());
    }
  }
  for (const ProgramRow& row : t.programs) {
    for (uint32_t i = 1; i < row.option_count; ++i) {
      const OptionRow* option = &t.options[row.first_option + i];
      if (t.String(option[-1].name) >= t.String(option->name)) {
        return Corrupt("section OPTN: options of '{}' are out of order", t.String(row.name));
      }
    }
  }
  const uint64_t live_rows = t.live.size() / (1 + uint64_t{t.live_words});
  for (const EntryRow& row : t.entries) {
    if (row.program >= t.programs.size() || !IsString(row.target) ||
        !InRange(row.first_live, row.live_count, live_rows) ||
        (row.live_count != 0 &&
         t.live_words < (t.programs[row.program].option_count + uint64_t{63}) / 64)) {
      return Corrupt("section ENTR: row {}", &row - t.entries.data());
    }
  }
  return {};
}

Result<void> TableReader::CheckArtifacts() {
  const Tables& t = tables_;
  if (t.artifacts.size() > kMaxEntries) {
    return PackError(kLimit, fmt::format("{} artifacts", t.artifacts.size()));
  }
  for (const ArtifactRow& row : t.artifacts) {
    const bool has_code = row.first_code != kNone || row.code_count != 0;
    if ((has_code && !InRange(row.first_code, row.code_count, t.code.size())) ||
        (row.metadata != kNone && row.metadata >= t.blobs.size()) ||
        row.entry >= t.entries.size() ||
        (&row != t.artifacts.data() && (&row)[-1].live_key >= row.live_key)) {
      return Corrupt("section ARTF: row {}", &row - t.artifacts.data());
    }
  }
  for (const CodeRow& row : t.code) {
    if (row.blob >= t.blobs.size()) {
      return Corrupt("section CODE: row {}", &row - t.code.data());
    }
  }
  for (const PipelineRow& row : t.pipelines) {
    if (row.artifact >= t.artifacts.size() || row.entry >= t.entries.size()) {
      return Corrupt("section PSOS: row {}", &row - t.pipelines.data());
    }
  }
  return {};
}

Result<void> TableReader::CheckBlobs() {
  Tables& t = tables_;
  const uint64_t data_size = t.sections.empty() ? 0 : t.sections.back().stored_size;
  for (const BlockRow& row : t.blocks) {
    if (!InRange(row.offset, row.stored_size, data_size) ||
        row.raw_size > kMaxBlobBytes + kBlockBytes) {
      return Corrupt("section BLKS: row {}", &row - t.blocks.data());
    }
    t.complete_blocks += InRange(row.offset, row.stored_size, t.data.size()) ? 1 : 0;
  }
  for (const BlobRow& row : t.blobs) {
    if (row.block >= t.blocks.size() ||
        !InRange(row.offset, row.raw_size, t.blocks[row.block].raw_size) ||
        (&row != t.blobs.data() && (&row)[-1].id >= row.id)) {
      return Corrupt("section BIDX: row {}", &row - t.blobs.data());
    }
  }
  if (bytes_.size() < t.header.file_size && !partial_) {
    return PackError(kTruncated, fmt::format("{} of {} blocks complete; fetch from byte {}",
                                             t.complete_blocks, t.blocks.size(), bytes_.size()));
  }
  return {};
}

}  // namespace

Result<Tables> ReadTables(ByteView bytes, bool allow_partial) {
  return TableReader(bytes, allow_partial).Read();
}

}  // namespace kiln::pack
