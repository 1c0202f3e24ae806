// SPDX-License-Identifier: MIT
// Nothing is believed before it is checked, and nothing is allocated by a size that a file names.
#include "cache/pack/tables.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include <fmt/format.h>

#include "cache/pack/errors.h"
#include "cache/store.h"
#include "compiler/base/check.h"
#include "compiler/base/checksum.h"

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
    for (uint32_t i = 0; i < tables_.sections.size(); ++i) {
      KILN_TRY_VOID(ReadSection(i));
    }
    KILN_TRY_VOID(CheckPrograms());
    KILN_TRY_VOID(CheckArtifacts());
    KILN_TRY_VOID(CheckWarm());
    KILN_TRY_VOID(CheckCacheRows());
    KILN_TRY_VOID(CheckBlobs());
    KILN_TRY_VOID(CheckHashes());
    return std::move(tables_);
  }

 private:
  Result<void> ReadHeader();
  Result<void> ReadSectionTable();
  Result<void> CheckSection(const SectionEntry& section);
  Result<void> ReadSection(uint32_t index);
  Result<void> ReadRows(const SectionEntry& section, ByteView bytes);
  Result<void> ReadStrings(const SectionEntry& section, ByteView bytes);
  Result<void> ReadDictionaries(const SectionEntry& section, ByteView bytes);
  Result<void> ReadSignature(ByteView bytes);
  Result<void> ReadLive(const SectionEntry& section, ByteView bytes);
  Result<void> CheckPrograms();
  Result<void> CheckArtifacts();
  Result<void> CheckWarm();
  Result<void> CheckCacheRows();
  Result<void> CheckBlocks();
  Result<void> CheckBlobs();
  Result<void> CheckHashes();
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
  if (header.checksum != Checksum64(bytes_.first(offsetof(Header, checksum)))) {
    return Corrupt("the header does not have the sum that it says");
  }
  if (header.major < kMajor) {
    return PackError(kTooOld, fmt::format("format {}.{}; this reader knows {}.{}: build the pack "
                                          "again with the kiln that is to read it",
                                          header.major, header.minor, kMajor, kMinor));
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
  if (((header.flags & kDelta) != 0) == header.base_pack.zero()) {
    return Corrupt("the header has flags {} and base pack {}", header.flags,
                   header.base_pack.hex());
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

bool IsKnown(SectionKind kind) {
  switch (kind) {
    case SectionKind::kInfo:
    case SectionKind::kStrings:
    case SectionKind::kPrograms:
    case SectionKind::kOptions:
    case SectionKind::kEntries:
    case SectionKind::kLive:
    case SectionKind::kArtifacts:
    case SectionKind::kCode:
    case SectionKind::kPipelines:
    case SectionKind::kPasses:
    case SectionKind::kWarm:
    case SectionKind::kHints:
    case SectionKind::kCacheRows:
    case SectionKind::kCacheValues:
    case SectionKind::kBlobs:
    case SectionKind::kBlocks:
    case SectionKind::kDictionaries:
    case SectionKind::kHashes:
    case SectionKind::kSignature:
    case SectionKind::kData:
      return true;
  }
  return false;  // of a newer writer
}

Result<void> TableReader::CheckSection(const SectionEntry& section) {
  if (!InRange(section.offset, section.stored_size, tables_.header.file_size)) {
    return Corrupt("section {} does not fit", SectionName(section.kind));
  }
  const bool is_data = section.kind == SectionKind::kData;
  if (!is_data && !InRange(section.offset, section.stored_size, bytes_.size())) {
    return PackError(kTruncated, fmt::format("section {} lacks {} bytes; fetch the rest",
                                             SectionName(section.kind),
                                             section.offset + section.stored_size - bytes_.size()));
  }
  if (!IsKnown(section.kind)) {
    return {};
  }
  if (section.codec != Codec::kRaw || section.raw_size != section.stored_size) {
    return PackError(kNeedsNewer, fmt::format("section {} has codec {}", SectionName(section.kind),
                                              static_cast<uint32_t>(section.codec)));
  }
  // Rows are used where they lie.
  const uint64_t alignment = (section.flags & kMappable) != 0 ? kPageBytes : 8;
  const bool has_rows = section.kind != SectionKind::kInfo;
  if (has_rows && section.offset % alignment != 0) {
    return Corrupt("section {} is not aligned", SectionName(section.kind));
  }
  return {};
}

Result<void> TableReader::ReadSection(uint32_t index) {
  const SectionEntry& section = tables_.sections[index];
  for (uint32_t i = 0; i < index; ++i) {
    if (tables_.sections[i].kind == section.kind) {
      return Corrupt("section {} is there twice", SectionName(section.kind));
    }
  }
  KILN_TRY_VOID(CheckSection(section));
  const uint64_t begin = std::min<uint64_t>(section.offset, bytes_.size());
  const uint64_t size = std::min<uint64_t>(section.stored_size, bytes_.size() - begin);
  const ByteView bytes = bytes_.subspan(begin, size);
  if (section.kind == SectionKind::kData) {  // its blocks have sums of their own
    tables_.data = bytes;
    tables_.data_size = section.stored_size;
    return {};
  }
  if (section.kind == SectionKind::kSignature) {  // its row has no sum
    return ReadSignature(bytes);
  }
  if (Checksum64(bytes) != section.checksum) {
    return Corrupt("section {} does not have the sum that the table says",
                   SectionName(section.kind));
  }
  if (section.kind == SectionKind::kHashes) {
    tables_.hashed_sections = index;
  }
  if (!IsKnown(section.kind)) {
    if ((section.flags & kMustUnderstand) != 0) {
      return PackError(kNeedsNewer, fmt::format("section {} is of a newer kiln; use that one",
                                                SectionName(section.kind)));
    }
    return {};
  }
  return ReadRows(section, bytes);
}

Result<void> TableReader::ReadRows(const SectionEntry& section, ByteView bytes) {
  const auto rows = [&]<class Row>(std::span<const Row>& out) -> Result<void> {
    KILN_TRY(out, RowsOf<Row>(section, bytes));
    return {};
  };
  switch (section.kind) {
    case SectionKind::kInfo:
      tables_.info = bytes;
      return {};
    case SectionKind::kStrings:
      return ReadStrings(section, bytes);
    case SectionKind::kLive:
      return ReadLive(section, bytes);
    case SectionKind::kPrograms:
      return rows(tables_.programs);
    case SectionKind::kOptions:
      return rows(tables_.options);
    case SectionKind::kEntries:
      return rows(tables_.entries);
    case SectionKind::kArtifacts:
      return rows(tables_.artifacts);
    case SectionKind::kCode:
      return rows(tables_.code);
    case SectionKind::kPipelines:
      return rows(tables_.pipelines);
    case SectionKind::kPasses:
      return rows(tables_.passes);
    case SectionKind::kWarm:
      return rows(tables_.warm);
    case SectionKind::kHints:
      return rows(tables_.hints);
    case SectionKind::kCacheRows:
      return rows(tables_.cache_rows);
    case SectionKind::kCacheValues:
      tables_.cache_values = bytes;
      return {};
    case SectionKind::kBlobs:
      return rows(tables_.blobs);
    case SectionKind::kBlocks:
      return rows(tables_.blocks);
    case SectionKind::kDictionaries:
      return ReadDictionaries(section, bytes);
    case SectionKind::kHashes:
      return rows(tables_.hashes);
    case SectionKind::kSignature:
    case SectionKind::kData:
      return {};
  }
  KILN_UNREACHABLE();
}

// u32 count, u32 ends, bytes.
struct Texts {
  std::span<const uint32_t> ends;
  ByteView bytes;
};

Result<Texts> ReadTexts(const SectionEntry& section, ByteView bytes) {
  const uint32_t count = bytes.size() < 4 ? 0 : ReadLittle<uint32_t>(bytes);
  if (bytes.size() < 4 || count != section.rows || bytes.size() / 4 < uint64_t{count} + 1) {
    return Corrupt("section {}: {} bytes are not {} items", SectionName(section.kind), bytes.size(),
                   section.rows);
  }
  Texts texts{.ends = {reinterpret_cast<const uint32_t*>(bytes.data()) + 1, count},
              .bytes = bytes.subspan((uint64_t{count} + 1) * 4)};
  uint32_t last = 0;
  for (const uint32_t end : texts.ends) {
    if (end < last || end > texts.bytes.size()) {
      return Corrupt("section {}: an item ends at {}", SectionName(section.kind), end);
    }
    last = end;
  }
  return texts;
}

Result<void> TableReader::ReadStrings(const SectionEntry& section, ByteView bytes) {
  KILN_TRY(const Texts texts, ReadTexts(section, bytes));
  tables_.string_ends = texts.ends;
  tables_.text = texts.bytes;
  return {};
}

Result<void> TableReader::ReadDictionaries(const SectionEntry& section, ByteView bytes) {
  KILN_TRY(const Texts texts, ReadTexts(section, bytes));
  uint32_t begin = 0;
  for (const uint32_t end : texts.ends) {
    if (tables_.dictionaries.size() == kMaxDictionaries || end - begin > kMaxDictionaryBytes) {
      return PackError(kLimit, fmt::format("section DICT: {} dictionaries, one of {} bytes; at "
                                           "most {} of {}",
                                           texts.ends.size(), end - begin, kMaxDictionaries,
                                           kMaxDictionaryBytes));
    }
    tables_.dictionaries.push_back(texts.bytes.subspan(begin, end - begin));
    begin = end;
  }
  return {};
}

Result<void> TableReader::ReadSignature(ByteView bytes) {
  if (bytes.size() != sizeof(SignatureBlock)) {
    return Corrupt("section SIGN has {} bytes", bytes.size());
  }
  std::memcpy(&tables_.signature.emplace(), bytes.data(), bytes.size());
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

Result<void> TableReader::CheckWarm() {
  const Tables& t = tables_;
  for (const PassRow& row : t.passes) {
    if (!IsString(row.name) || row.color_count > kMaxColorFormats ||
        (&row != t.passes.data() && t.String((&row)[-1].name) >= t.String(row.name))) {
      return Corrupt("section PASS: row {}", &row - t.passes.data());
    }
  }
  for (const WarmRow& row : t.warm) {
    if (row.pipeline >= t.pipelines.size() || (row.pass != kNone && row.pass >= t.passes.size()) ||
        !InRange(row.hints >> 8, row.hints & 0xFF, t.hints.size())) {
      return Corrupt("section WARM: row {}", &row - t.warm.data());
    }
  }
  return {};
}

Result<void> TableReader::CheckCacheRows() {
  const Tables& t = tables_;
  const CacheRow* last = nullptr;
  for (const CacheRow& row : t.cache_rows) {
    if (row.level == 0 || row.level >= cache::kLevelCount ||
        !InRange(row.offset, row.size, t.cache_values.size()) ||
        (last != nullptr && std::tie(last->space, last->level, last->key) >=
                                std::tie(row.space, row.level, row.key))) {
      return Corrupt("section CROW: row {}", &row - t.cache_rows.data());
    }
    last = &row;
  }
  return {};
}

Result<void> TableReader::CheckBlocks() {
  Tables& t = tables_;
  const bool is_delta = (t.header.flags & kDelta) != 0;
  for (const BlockRow& row : t.blocks) {
    const bool named = row.codec == Codec::kZstdAfterBase
                           ? is_delta && row.dictionary != kNone
                           : row.dictionary == kNone || (row.codec == Codec::kZstd &&
                                                         row.dictionary < t.dictionaries.size());
    if (!InRange(row.offset, row.stored_size, t.data_size) || !named) {
      return Corrupt("section BLKS: row {}", &row - t.blocks.data());
    }
    if (row.raw_size > kMaxBlobBytes + kBlockBytes) {
      return PackError(
          kLimit, fmt::format("section BLKS: row {} claims {} bytes; at most {}",
                              &row - t.blocks.data(), row.raw_size, kMaxBlobBytes + kBlockBytes));
    }
    t.complete_blocks += InRange(row.offset, row.stored_size, t.data.size()) ? 1 : 0;
  }
  return {};
}

Result<void> TableReader::CheckBlobs() {
  const Tables& t = tables_;
  KILN_TRY_VOID(CheckBlocks());
  const bool is_delta = (t.header.flags & kDelta) != 0;
  for (const BlobRow& row : t.blobs) {
    const bool found = (row.flags & kInBase) != 0
                           ? is_delta
                           : row.block < t.blocks.size() &&
                                 InRange(row.offset, row.raw_size, t.blocks[row.block].raw_size);
    if (!found || (&row != t.blobs.data() && (&row)[-1].id >= row.id)) {
      return Corrupt("section BIDX: row {}", &row - t.blobs.data());
    }
  }
  if (bytes_.size() < t.header.file_size && !partial_) {
    return PackError(kTruncated, fmt::format("{} of {} blocks complete; fetch from byte {}",
                                             t.complete_blocks, t.blocks.size(), bytes_.size()));
  }
  return {};
}

Result<void> TableReader::CheckHashes() {
  const Tables& t = tables_;
  const bool is_signed = t.signature.has_value() && t.hashed_sections != 0;
  if (((t.header.flags & kSigned) != 0) != is_signed ||
      (!t.hashes.empty() && t.hashes.size() != t.hashed_sections + t.blocks.size())) {
    return Corrupt("section HASH: {} rows, flags {}", t.hashes.size(), t.header.flags);
  }
  return {};
}

}  // namespace

Result<Tables> ReadTables(ByteView bytes, bool allow_partial) {
  return TableReader(bytes, allow_partial).Read();
}

}  // namespace kiln::pack
