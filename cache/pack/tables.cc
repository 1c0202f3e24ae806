// SPDX-License-Identifier: MIT
// Nothing is believed before it is checked; what is allocated is bounded by what is stored. The
// order of the checks is the argument: a number is used only after something before it has bounded
// it. Header (128 bytes with a sum), section table (bounded by the file, its hash is the id of the
// pack), places of sections, signature, then the index. Rows are checked against each other in
// table_checks.cc, when all of them are there.
#include "cache/pack/tables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "cache/pack/columns.h"
#include "cache/pack/compression.h"
#include "cache/pack/errors.h"
#include "cache/pack/sections.h"
#include "cache/pack/table_checks.h"
#include "compiler/base/check.h"
#include "compiler/base/hash/checksum.h"

namespace kiln::pack {
namespace {

class TableReader {
 public:
  TableReader(ByteView bytes, const TableOptions& options) : bytes_(bytes), options_(options) {}

  // Header and section table first, both guarded by sums; then where each section lies; then the
  // signature, if one is asked for; and only then is anything decompressed and are rows looked at.
  Result<Tables> Read() {
    KILN_TRY_VOID(ReadHeader());
    KILN_TRY_VOID(CheckBase());
    KILN_TRY_VOID(ReadSectionTable());
    for (uint32_t i = 0; i < tables_.sections.size(); ++i) {
      KILN_TRY_VOID(FindSection(i));
    }
    if (options_.check) {
      KILN_TRY_VOID(options_.check(tables_));
    }
    for (const SectionEntry& section : tables_.sections) {
      if (IsIndex(section.kind)) {
        KILN_TRY_VOID(ReadSection(section));
      }
    }
    KILN_TRY_VOID(CheckRows(tables_, base_));
    if (bytes_.size() < tables_.header.file_size && !options_.allow_partial) {
      return PackError(kTruncated,
                       fmt::format("{} of {} blocks complete; fetch from byte {}",
                                   tables_.complete_blocks, tables_.blocks.size(), bytes_.size()));
    }
    return std::move(tables_);
  }

 private:
  static bool IsIndex(SectionKind kind);

  Result<void> ReadHeader();
  Result<void> CheckBase();
  Result<void> ReadSectionTable();
  Result<void> CheckSection(const SectionEntry& section);
  Result<void> FindSection(uint32_t index);
  Result<void> ReadSection(const SectionEntry& section);
  Result<Bytes> RawOf(const SectionEntry& section);
  Result<void> ReadView(const SectionEntry& section, Bytes raw);
  Result<void> ReadStrings(const SectionEntry& section, ByteView bytes);
  Result<void> ReadLive(const SectionEntry& section, ByteView bytes);
  Result<void> ReadHashes(const SectionEntry& section, ByteView bytes);
  Result<void> ReadSignature(ByteView bytes);

  ByteView bytes_;
  const TableOptions& options_;
  const Tables* base_ = nullptr;  // of a delta
  Tables tables_;
};

// Each test assumes those before it: length, magic, sum, version, sizes.
Result<void> TableReader::ReadHeader() {
  if (bytes_.size() < sizeof(Header)) {
    // A short file that begins like a pack was cut off, any other is none.
    const size_t known = std::min(bytes_.size(), kMagic.size());
    if (std::memcmp(bytes_.data(), kMagic.data(), known) != 0) {
      return PackError(kNotAPack, "the file does not begin like a pack");
    }
    return PackError(kTruncated, fmt::format("needs {} bytes, file has {}; fetch it again",
                                             sizeof(Header), bytes_.size()));
  }
  Header& header = tables_.header;
  // Copied and not cast: the bytes of a message or a file need not be aligned.
  std::memcpy(&header, bytes_.data(), sizeof(Header));
  if (header.magic != kMagic) {
    return PackError(kNotAPack, "the file does not begin like a pack");
  }
  // Before any other field is believed. The version comes next, since all that follows depends on
  // it.
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

// The base was opened and checked before, so it may be believed; what may be wrong is which one it
// is.
Result<void> TableReader::CheckBase() {
  const Hash128& wanted = tables_.header.base_pack;
  if (wanted.zero()) {
    return {};
  }
  base_ = options_.base;
  // The base is named by its id, so a pack of the same file name from another build cannot take its
  // place.
  if (base_ == nullptr || base_->header.pack_id != wanted) {
    return PackError(kBaseMissing, fmt::format("the pack is a delta of pack {}; open that, too, or "
                                               "flatten them where both are",
                                               wanted.hex()));
  }
  tables_.links = base_->links + 1;
  if (tables_.links > kMaxLinks) {
    return PackError(kLimit, fmt::format("{} packs lie below; at most {}: flatten them",
                                         tables_.links, kMaxLinks));
  }
  return {};
}

// The table lies inside the file that the header says, and inside the bytes that are here: two
// different failures.
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
  // The id of a pack is that of its section table, which has the ids of all sections: one
  // comparison ties the whole file together.
  if (HashBytes(table) != header.pack_id) {
    return Corrupt("the section table does not have the pack's id");
  }
  tables_.sections.resize(header.section_count);
  if (size != 0) {
    std::memcpy(tables_.sections.data(), table.data(), size);
  }
  return {};
}

// A switch without a default, so a new kind that is not listed here is a warning of the compiler.
bool IsKnown(SectionKind kind) {
  switch (kind) {
    case SectionKind::kInfo:
    case SectionKind::kStrings:
    case SectionKind::kPrograms:
    case SectionKind::kOptions:
    case SectionKind::kEntries:
    case SectionKind::kLive:
    case SectionKind::kLayouts:
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
    case SectionKind::kHashes:
    case SectionKind::kSignature:
    case SectionKind::kData:
      return true;
  }
  return false;  // of a newer writer
}

// What is decompressed when the pack is opened.
bool TableReader::IsIndex(SectionKind kind) {
  return IsKnown(kind) && kind != SectionKind::kHashes && kind != SectionKind::kSignature &&
         kind != SectionKind::kData;
}

// Of a section that this reader does not know only its place is looked at: it may have codecs and
// an alignment that are new, too.
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
  const bool compressed = section.codec == Codec::kZstd || section.codec == Codec::kZstdAfterBase;
  if ((section.codec != Codec::kRaw && !compressed) || (compressed && !IsIndex(section.kind))) {
    return PackError(kNeedsNewer, fmt::format("section {} has codec {}", SectionName(section.kind),
                                              static_cast<uint32_t>(section.codec)));
  }
  if (!compressed && section.raw_size != section.stored_size) {
    return Corrupt("section {}: {} raw bytes are stored as {}", SectionName(section.kind),
                   section.raw_size, section.stored_size);
  }
  if (section.offset % kSectionBytes != 0) {
    return Corrupt("section {} is not aligned", SectionName(section.kind));
  }
  return {};
}

// At most kMaxSections, so comparing each with all before it is cheap.
Result<void> TableReader::FindSection(uint32_t index) {
  const SectionEntry& section = tables_.sections[index];
  for (uint32_t i = 0; i < index; ++i) {
    if (tables_.sections[i].kind == section.kind) {
      return Corrupt("section {} is there twice", SectionName(section.kind));
    }
  }
  KILN_TRY_VOID(CheckSection(section));
  // Only the data may be cut off, in a pack that is opened in part; for all others CheckSection has
  // looked.
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
    return ReadHashes(section, bytes);
  }
  if (!IsKnown(section.kind) && (section.flags & kMustUnderstand) != 0) {
    return PackError(kNeedsNewer, fmt::format("section {} is of a newer kiln; use that one",
                                              SectionName(section.kind)));
  }
  return {};
}

// Bounded before it is allocated: compression.h says by what.
Result<Bytes> TableReader::RawOf(const SectionEntry& section) {
  Bytes prefix;
  if (section.codec == Codec::kZstdAfterBase) {
    if (base_ == nullptr) {
      return Corrupt("section {} needs a base", SectionName(section.kind));
    }
    prefix = RawSection(*base_, section.kind);
  }
  if (!IndexAllowed(section.raw_size, section.stored_size, prefix.size())) {
    return PackError(kLimit,
                     fmt::format("section {}: {} bytes claim to be {}", SectionName(section.kind),
                                 section.stored_size, section.raw_size));
  }
  Result<Bytes> raw = Decompress(section.codec, bytes_.subspan(section.offset, section.stored_size),
                                 section.raw_size, prefix);
  if (!raw.ok()) {
    return WithContext(raw.error(), "section " + SectionName(section.kind));
  }
  return raw;
}

// Each index section becomes rows of its own type (FromColumns), or stays as bytes.
Result<void> TableReader::ReadSection(const SectionEntry& section) {
  KILN_TRY(Bytes raw, RawOf(section));
  const auto rows = [&]<class Row>(std::vector<Row>& out) -> Result<void> {
    const uint64_t row_bytes = StoredRowBytes<Row>();
    if (raw.size() % row_bytes != 0 || raw.size() / row_bytes != section.rows) {
      return Corrupt("section {}: {} bytes are not {} rows", SectionName(section.kind), raw.size(),
                     section.rows);
    }
    // The number of rows follows from the bytes that are there, so a claim in the table allocates
    // nothing.
    out = FromColumns<Row>(raw, section.rows);
    return {};
  };
  switch (section.kind) {
    case SectionKind::kPrograms:
      return rows(tables_.programs);
    case SectionKind::kOptions:
      return rows(tables_.options);
    case SectionKind::kEntries:
      return rows(tables_.entries);
    case SectionKind::kLayouts:
      return rows(tables_.layouts);
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
    case SectionKind::kBlobs:
      return rows(tables_.blobs);
    case SectionKind::kBlocks:
      return rows(tables_.blocks);
    default:
      return ReadView(section, std::move(raw));
  }
}

// A section that stays as it is.
Result<void> TableReader::ReadView(const SectionEntry& section, Bytes raw) {
  // The table of raw sections owns the bytes; strings and masks are views into it. A vector that
  // grows moves its elements, but the heap memory of each stays where it is.
  const ByteView bytes = tables_.raw.emplace_back(section.kind, std::move(raw)).second;
  switch (section.kind) {
    case SectionKind::kInfo:
      tables_.info = bytes;
      return {};
    case SectionKind::kStrings:
      return ReadStrings(section, bytes);
    case SectionKind::kLive:
      return ReadLive(section, bytes);
    case SectionKind::kCacheValues:
      tables_.cache_values = bytes;
      return {};
    default:
      KILN_UNREACHABLE();
  }
}

// One hash for each section before this one and for each block (spec/cache 10.4); they are compared
// when they are needed.
Result<void> TableReader::ReadHashes(const SectionEntry& section, ByteView bytes) {
  if (bytes.size() % sizeof(HashRow) != 0 || bytes.size() / sizeof(HashRow) != section.rows) {
    return Corrupt("section HASH: {} bytes are not {} rows", bytes.size(), section.rows);
  }
  tables_.hashes.resize(section.rows);
  if (!bytes.empty()) {
    std::memcpy(tables_.hashes.data(), bytes.data(), bytes.size());
  }
  return {};
}

// u32 count, u32 ends, bytes.
struct Texts {
  std::span<const uint32_t> ends;
  ByteView bytes;
};

// The result is a view of bytes that the tables own.
Result<Texts> ReadTexts(const SectionEntry& section, ByteView bytes) {
  const uint32_t count = bytes.size() < 4 ? 0 : ReadLittle<uint32_t>(bytes);
  if (bytes.size() < 4 || count != section.rows || bytes.size() / 4 < uint64_t{count} + 1) {
    return Corrupt("section {}: {} bytes are not {} items", SectionName(section.kind), bytes.size(),
                   section.rows);
  }
  // Memory of a vector is aligned for this, and the format is that of the machine, little-endian.
  Texts texts{.ends = {reinterpret_cast<const uint32_t*>(bytes.data()) + 1, count},
              .bytes = bytes.subspan((uint64_t{count} + 1) * 4)};
  uint32_t last = 0;
  for (const uint32_t end : texts.ends) {
    // Ends ascend and stay inside, so every string is a range.
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

// Only taken over here. Whether it is good is decided by `check`, before anything is decompressed.
Result<void> TableReader::ReadSignature(ByteView bytes) {
  if (bytes.size() != sizeof(SignatureBlock)) {
    return Corrupt("section SIGN has {} bytes", bytes.size());
  }
  std::memcpy(&tables_.signature.emplace(), bytes.data(), bytes.size());
  return {};
}

// The width of a row follows from the size and the number of rows. Its first word is its head, the
// others are the bits of the options.
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

}  // namespace

Result<Tables> ReadTables(ByteView bytes, const TableOptions& options) {
  return TableReader(bytes, options).Read();
}

}  // namespace kiln::pack
