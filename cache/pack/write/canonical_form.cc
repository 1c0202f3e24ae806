// SPDX-License-Identifier: MIT
// The index is compared as a whole: its contents are taken out (unpack.h), made into an index again
// (index.h), and every section must come out as it is in the file. So each rule of the writer is
// written once, there. Only places are taken from the file, because they follow from how well blobs
// compress; of those it is required that they leave no gap.
#include "cache/pack/write/canonical_form.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "cache/pack/errors.h"
#include "cache/pack/sections.h"
#include "cache/pack/table_checks.h"
#include "cache/pack/unpack.h"
#include "cache/pack/write/index.h"

namespace kiln::pack {
namespace {

constexpr std::array kFileOrder{
    SectionKind::kInfo,      SectionKind::kStrings,   SectionKind::kPrograms,
    SectionKind::kOptions,   SectionKind::kEntries,   SectionKind::kLive,
    SectionKind::kLayouts,   SectionKind::kArtifacts, SectionKind::kCode,
    SectionKind::kPipelines, SectionKind::kPasses,    SectionKind::kWarm,
    SectionKind::kHints,     SectionKind::kCacheRows, SectionKind::kCacheValues,
    SectionKind::kBlobs,     SectionKind::kBlocks,    SectionKind::kHashes,
    SectionKind::kSignature, SectionKind::kData};

// Two files with the same contents must be one file, byte by byte. So whatever a reader ignores,
// reserved bytes and unknown flags, must have its only possible value here.
Result<void> CheckHeader(const Tables& tables) {
  const Header& header = tables.header;
  if (header.minor != kMinor) {
    return PackError(kNeedsNewer, fmt::format("format {}.{}; this reader verifies {}.{} only",
                                              header.major, header.minor, kMajor, kMinor));
  }
  const bool zero =
      std::all_of(header.zero.begin(), header.zero.end(), [](uint8_t byte) { return byte == 0; });
  if (!zero || (header.flags & ~uint32_t{kDelta | kSigned | kCacheExport}) != 0 ||
      header.table_offset != sizeof(Header)) {
    return Corrupt("the header has flags {}, its table at {}, or reserved bytes", header.flags,
                   header.table_offset);
  }
  const bool is_signed = (header.flags & kSigned) != 0;
  // Both sections or none: hashes without a signature prove nothing, a signature covers hashes.
  if (is_signed == tables.hashes.empty() || is_signed != tables.signature.has_value() ||
      (is_signed && tables.signature->algorithm != kEd25519)) {
    return Corrupt("sections HASH and SIGN do not fit flags {}", header.flags);
  }
  return {};
}

// What the row of the table says beside what opening has compared.
bool IsPlain(const Tables& tables, const SectionEntry& section) {
  const bool is_data = section.kind == SectionKind::kData;
  const bool is_signature = section.kind == SectionKind::kSignature;
  const uint64_t rows = is_data ? tables.blocks.size() : 1;
  const bool has_rows = section.kind == SectionKind::kInfo || is_data || is_signature ||
                        section.kind == SectionKind::kCacheValues;
  return section.zero == 0 && section.flags == (is_data ? uint32_t{kMappable} : 0U) &&
         (!has_rows || section.rows == rows) &&
         (!(is_data || is_signature) || section.checksum == 0) &&
         (!is_signature || section.id.zero());
}

// Sections follow each other in the order of the format with nothing but zeros between them. Those
// of a newer writer may say of themselves what they like.
Result<void> CheckSections(const Tables& tables, ByteView file) {
  uint64_t end = sizeof(Header) + tables.sections.size() * sizeof(SectionEntry);
  auto place = kFileOrder.begin();
  for (const SectionEntry& section : tables.sections) {
    const auto known = std::find(kFileOrder.begin(), kFileOrder.end(), section.kind);
    if (known != kFileOrder.end()) {
      if (known < place || !IsPlain(tables, section)) {
        return Corrupt("section {} is out of order, or its row has other flags or rows",
                       SectionName(section.kind));
      }
      place = known + 1;
    }
    // The place of each section follows from the end of the one before it, and the bytes between
    // are zero.
    const uint64_t begin = (end + kSectionBytes - 1) / kSectionBytes * kSectionBytes;
    const ByteView padding = file.subspan(std::min<uint64_t>(end, file.size()));
    if (section.offset != begin ||
        std::any_of(padding.begin(),
                    padding.begin() +
                        static_cast<ptrdiff_t>(std::min<uint64_t>(begin - end, padding.size())),
                    [](std::byte byte) { return byte != std::byte{0}; })) {
      return Corrupt("section {} does not begin at {} behind zeros", SectionName(section.kind),
                     begin);
    }
    end = section.offset + section.stored_size;
  }
  if (end != tables.header.file_size) {
    return Corrupt("{} bytes behind the sections", tables.header.file_size - end);
  }
  return {};
}

// The data is its blocks, one after the other.
Result<void> CheckBlockPlaces(const Tables& tables) {
  uint64_t end = 0;
  for (const BlockRow& row : tables.blocks) {
    if (row.offset != end) {
      return Corrupt("section BLKS: row {} begins at {} of BDAT, the one before it ends at {}",
                     &row - tables.blocks.data(), row.offset, end);
    }
    end += row.stored_size;
  }
  if (end != tables.data_size) {
    return Corrupt("section BDAT: {} bytes behind the blocks", tables.data_size - end);
  }
  return {};
}

// A block is its table of symbols and its blobs, which may lie in it in any order.
Result<void> CheckBlobPlaces(const Pack& pack) {
  const Tables& tables = pack.tables();
  using Place = std::pair<uint32_t, uint32_t>;  // offset, size
  // Blobs of one block in the order of their offsets must cover it without gaps or overlaps.
  // Otherwise bytes could hide in a block that no blob has.
  std::vector<std::vector<Place>> places(tables.blocks.size());
  for (const BlobRow& row : tables.blobs) {
    const bool in_base = (row.flags & kInBase) != 0;
    const bool plain =
        in_base ? row.flags == kInBase && row.block == kNone && row.offset == 0 && row.size == 0
                : (row.flags & ~uint32_t{kModule}) == 0;
    if (!plain) {
      return Corrupt("section BIDX: row {} has flags {}", &row - tables.blobs.data(), row.flags);
    }
    if (!in_base) {
      places[row.block].emplace_back(row.offset, row.size);
    }
  }
  for (uint32_t block = 0; block < tables.blocks.size(); ++block) {
    std::sort(places[block].begin(), places[block].end());
    uint32_t end = tables.blocks[block].symbol_bytes;
    if (end != 0) {
      // The table of symbols is bytes as well, and must read as one.
      KILN_TRY_VOID(pack.SymbolsOf(block));
    }
    for (const auto& [offset, size] : places[block]) {
      if (offset != end) {
        return Corrupt("section BIDX: block {} has a blob at {}, not at {}", block, offset, end);
      }
      end += size;
    }
    if (end != tables.blocks[block].raw_size) {
      return Corrupt("section BLKS: row {} has {} bytes that no blob has", block,
                     tables.blocks[block].raw_size - end);
    }
  }
  return {};
}

// Blobs that are named, each once and in its order; then where they lie, as the file has it.
Result<void> TakePlaces(const Tables& tables, Index& index) {
  if (index.blobs.size() != tables.blobs.size()) {
    return Corrupt("section BIDX: {} rows, {} blobs are named", tables.blobs.size(),
                   index.blobs.size());
  }
  for (size_t i = 0; i < index.blobs.size(); ++i) {
    const BlobRow& row = tables.blobs[i];
    if (index.blobs[i].id != row.id || index.blobs[i].raw_size != row.raw_size) {
      return Corrupt("section BIDX: row {} has blob {} of {} bytes; there should be {} of {}", i,
                     row.id.hex(), row.raw_size, index.blobs[i].id.hex(), index.blobs[i].raw_size);
    }
    index.blobs[i] = row;
  }
  index.blocks = tables.blocks;
  return {};
}

// What is allocated for the contents, about. Rows may share what they name, a long string or the
// code of a thousand stages, so that hostile contents are larger than their index by any factor.
uint64_t ContentBytes(const Tables& t) {
  const auto text = [&](uint32_t string) { return uint64_t{32} + t.String(string).size(); };
  uint64_t bytes = t.cache_rows.size() * 128 + t.artifacts.size() * sizeof(Artifact);
  for (const ProgramRow& row : t.programs) {
    bytes += sizeof(Program) + text(row.name) + text(row.pipeline);
    for (const OptionRow& option : t.OptionsOf(row)) {
      bytes += sizeof(Option) + text(option.name);
      if (option.value_count != 0) {  // strings that follow each other
        bytes += option.value_count * uint64_t{32} +
                 t.string_ends[option.first_value + option.value_count - 1] -
                 (option.first_value == 0 ? 0 : t.string_ends[option.first_value - 1]);
      }
    }
  }
  for (const EntryRow& row : t.entries) {
    const uint64_t options = t.programs[row.program].option_count;
    bytes += sizeof(Entry) + text(row.target) + row.live_count * (32 + options * 4);
  }
  for (const ArtifactRow& row : t.artifacts) {
    bytes += row.code_count * sizeof(StageBlob);
  }
  for (const WarmRow& row : t.warm) {
    bytes += sizeof(Warm) + (row.pass == kNone ? 0 : text(t.passes[row.pass].name)) +
             (row.hints & 0xFF) * sizeof(ImageHint);
  }
  for (const CacheRow& row : t.cache_rows) {
    bytes += 4 * uint64_t{row.size};  // and the content that it names
  }
  return bytes;
}

// Of the largest packs that there may be.
constexpr uint64_t kMostContentBytes = uint64_t{1} << 30;

Result<void> CheckIndex(const Pack& pack) {
  const Tables& tables = pack.tables();
  // A program whose options are those of others is refused before they are counted for each.
  uint64_t options = 0;
  for (const ProgramRow& row : tables.programs) {
    options += row.option_count;
  }
  if (options != tables.options.size()) {
    return Corrupt("section OPTN: {} rows, programs have {}", tables.options.size(), options);
  }
  if (const uint64_t bytes = ContentBytes(tables); bytes > kMostContentBytes) {
    return PackError(kLimit, fmt::format("the contents have {} bytes; at most {} are verified",
                                         bytes, kMostContentBytes));
  }
  // Taking the contents out costs memory for each row, which the estimate above has bounded: names
  // and masks that rows share in the file are copied for each of them here.
  KILN_TRY(const Contents contents, ContentsOf(pack));
  Result<Index> index = MakeIndex(contents);
  if (!index.ok()) {
    return Corrupt("{}", index.error().context);
  }
  KILN_TRY_VOID(TakePlaces(tables, *index));
  size_t found = 0;
  for (const IndexSection& made : IndexSectionsOf(contents.info, *index)) {
    const auto there = std::find_if(tables.sections.begin(), tables.sections.end(),
                                    [&](const SectionEntry& s) { return s.kind == made.kind; });
    // Decompressed bytes are compared, so another version or level of zstd makes no difference.
    if (there == tables.sections.end() || there->rows != made.rows ||
        RawSection(tables, made.kind) != made.raw) {
      return Corrupt("section {} is not what its contents are written as", SectionName(made.kind));
    }
    ++found;
  }
  // A section that the writer would have left out, because it has no rows, must not be there.
  const auto is_index = [](const SectionEntry& section) {
    return std::find(kFileOrder.begin(), kFileOrder.end(), section.kind) <
           std::find(kFileOrder.begin(), kFileOrder.end(), SectionKind::kHashes);
  };
  if (static_cast<size_t>(
          std::count_if(tables.sections.begin(), tables.sections.end(), is_index)) != found) {
    return Corrupt("the index has a section that says nothing");
  }
  return {};
}

}  // namespace

Result<void> CheckCanonicalForm(const Pack& pack, ByteView file) {
  KILN_TRY_VOID(CheckHeader(pack.tables()));
  KILN_TRY_VOID(CheckSections(pack.tables(), file));
  KILN_TRY_VOID(CheckBlockPlaces(pack.tables()));
  KILN_TRY_VOID(CheckBlobPlaces(pack));
  return CheckIndex(pack);
}

}  // namespace kiln::pack
