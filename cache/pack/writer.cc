// SPDX-License-Identifier: MIT
// Blocks are spooled beside the pack, because the index in front of them needs their sizes.
#include "cache/pack/writer.h"

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cache/dictionary.h"
#include "cache/pack/block_writer.h"
#include "cache/pack/errors.h"
#include "cache/pack/file_writer.h"
#include "cache/pack/index.h"
#include "cache/pack/trust.h"
#include "compiler/base/checksum.h"

namespace kiln::pack {
namespace {

struct Section {
  SectionKind kind;
  Bytes bytes;
  uint64_t rows = 0;
  uint32_t flags = kMappable;
};

template <class Row>
Section Rows(SectionKind kind, const std::vector<Row>& rows) {
  Section section{.kind = kind, .bytes = {}, .rows = rows.size()};
  Append(section.bytes, std::as_bytes(std::span(rows)));
  return section;
}

Section Texts(SectionKind kind, const std::vector<ByteView>& texts) {
  Section section{.kind = kind, .bytes = {}, .rows = texts.size()};
  AppendLittle(section.bytes, static_cast<uint32_t>(texts.size()));
  uint32_t end = 0;
  for (const ByteView text : texts) {
    end += static_cast<uint32_t>(text.size());
    AppendLittle(section.bytes, end);  // where the text ends
  }
  for (const ByteView text : texts) {
    Append(section.bytes, text);
  }
  return section;
}

Section Strings(const std::vector<std::string>& strings) {
  std::vector<ByteView> texts;
  texts.reserve(strings.size());
  for (const std::string& text : strings) {
    texts.push_back(AsBytes(text));
  }
  return Texts(SectionKind::kStrings, texts);
}

// Every how many blobs one is a sample of the dictionary, so that kMaxSampleBytes suffice.
constexpr uint64_t kMaxSampleBytes = uint64_t{8} << 20;

Result<Bytes> ReadChecked(const BlobRow& row, const BlobSource& source) {
  const Digest digest{.id = row.id, .size = row.raw_size};
  if (digest.size > kMaxBlobBytes) {
    return PackError(kLimit, fmt::format("blob {} has {} bytes", row.id.hex(), digest.size));
  }
  KILN_TRY(Bytes blob, source(digest));
  if (DigestOf(blob) != digest) {
    return Error{.code = ErrorCode::kCorrupt,
                 .context = fmt::format("blob {} has other bytes", row.id.hex()),
                 .reason = {}};
  }
  return blob;
}

// What the base has is taken from there.
uint64_t FindInBase(Index& index, const Pack* base) {
  uint64_t found = 0;
  for (BlobRow& row : index.blobs) {
    const std::optional<uint32_t> there = base == nullptr ? std::nullopt : base->FindBlob(row.id);
    if (there.has_value() && base->tables().blobs[*there].raw_size == row.raw_size) {
      row.block = kNone;
      row.flags = kInBase;
      ++found;
    }
  }
  return found;
}

Result<Bytes> MakeDictionary(const Index& index, const BlobSource& source) {
  uint64_t total = 0;
  for (const BlobUse& use : index.data_order) {
    const BlobRow& row = index.blobs[use.blob];
    total += (row.flags & kInBase) != 0 ? 0 : row.raw_size;
  }
  const uint64_t step = total / kMaxSampleBytes + 1;
  std::vector<Bytes> samples;
  uint64_t seen = 0;
  for (const BlobUse& use : index.data_order) {
    const BlobRow& row = index.blobs[use.blob];
    if ((row.flags & kInBase) == 0 && row.raw_size <= kBlockBytes && seen++ % step == 0) {
      KILN_TRY(Bytes sample, ReadChecked(row, source));
      samples.push_back(std::move(sample));
    }
  }
  return cache::TrainDictionary(samples);
}

Result<void> WriteBlobs(Index& index, const BlobSource& source, const Pack* base,
                        BlockWriter& writer) {
  const std::map<Kin, uint32_t> kin =
      base == nullptr ? std::map<Kin, uint32_t>() : FirstBlocks(*base);
  for (const BlobUse& use : index.data_order) {
    BlobRow& row = index.blobs[use.blob];
    if ((row.flags & kInBase) != 0) {
      continue;
    }
    std::optional<uint32_t> prefix;
    if (use.entry != kNone && !kin.empty()) {
      const EntryRow& entry = index.entries[use.entry];
      const auto found = kin.find({index.strings[index.programs[entry.program].name],
                                   index.strings[entry.target], use.stage});
      prefix = found == kin.end() ? std::nullopt : std::optional(found->second);
    }
    KILN_TRY(const Bytes blob, ReadChecked(row, source));
    KILN_TRY_VOID(writer.Add(row, blob, prefix));
  }
  return writer.Flush();
}

std::vector<Section> IndexSections(const Contents& contents, const Index& index,
                                   const std::vector<BlockRow>& blocks, const Bytes& dictionary) {
  std::vector<Section> sections;
  sections.push_back({.kind = SectionKind::kInfo, .bytes = contents.info, .rows = 1, .flags = 0});
  sections.push_back(Strings(index.strings));
  sections.push_back(Rows(SectionKind::kPrograms, index.programs));
  sections.push_back(Rows(SectionKind::kOptions, index.options));
  sections.push_back(Rows(SectionKind::kEntries, index.entries));
  Section live = Rows(SectionKind::kLive, index.live);
  live.rows = index.live.size() / (1 + index.live_words);
  sections.push_back(std::move(live));
  sections.push_back(Rows(SectionKind::kArtifacts, index.artifacts));
  sections.push_back(Rows(SectionKind::kCode, index.code));
  sections.push_back(Rows(SectionKind::kPipelines, index.pipelines));
  if (!index.passes.empty()) {
    sections.push_back(Rows(SectionKind::kPasses, index.passes));
  }
  if (!index.warm.empty()) {
    sections.push_back(Rows(SectionKind::kWarm, index.warm));
  }
  if (!index.hints.empty()) {
    sections.push_back(Rows(SectionKind::kHints, index.hints));
  }
  if (!index.cache_rows.empty()) {
    sections.push_back(Rows(SectionKind::kCacheRows, index.cache_rows));
    sections.push_back({.kind = SectionKind::kCacheValues, .bytes = index.cache_values, .rows = 1});
  }
  sections.push_back(Rows(SectionKind::kBlobs, index.blobs));
  sections.push_back(Rows(SectionKind::kBlocks, blocks));
  if (!dictionary.empty()) {
    sections.push_back(Texts(SectionKind::kDictionaries, {dictionary}));
  }
  return sections;
}

Section HashesOf(const std::vector<Section>& sections, const std::vector<HashRow>& blocks) {
  std::vector<HashRow> rows;
  rows.reserve(sections.size() + blocks.size());
  for (const Section& section : sections) {
    rows.push_back({.sha256 = Sha256(section.bytes)});
  }
  rows.insert(rows.end(), blocks.begin(), blocks.end());
  return Rows(SectionKind::kHashes, rows);
}

uint64_t Aligned(uint64_t offset, uint64_t to) { return (offset + to - 1) / to * to; }

std::vector<SectionEntry> Table(const std::vector<Section>& sections, uint64_t data_bytes,
                                const Hash128& data_id, uint64_t block_count) {
  std::vector<SectionEntry> table;
  uint64_t offset = sizeof(Header) + (sections.size() + 1) * sizeof(SectionEntry);
  for (const Section& section : sections) {
    offset = Aligned(offset, (section.flags & kMappable) != 0 ? kPageBytes : 8);
    const bool is_signature = section.kind == SectionKind::kSignature;
    table.push_back({.kind = section.kind,
                     .flags = section.flags,
                     .offset = offset,
                     .stored_size = section.bytes.size(),
                     .raw_size = section.bytes.size(),
                     .id = is_signature ? Hash128{} : HashBytes(section.bytes),
                     .rows = section.rows,
                     .checksum = is_signature ? 0 : Checksum64(section.bytes)});
    offset += section.bytes.size();
  }
  table.push_back({.kind = SectionKind::kData,
                   .flags = kMappable,
                   .offset = Aligned(offset, kPageBytes),
                   .stored_size = data_bytes,
                   .raw_size = data_bytes,
                   .id = data_id,
                   .rows = block_count});
  return table;
}

Result<Header> HeaderOf(const Contents& contents, const WriteOptions& options,
                        const std::vector<SectionEntry>& table) {
  Header header{.file_size = table.back().offset + table.back().stored_size,
                .section_count = static_cast<uint32_t>(table.size()),
                .pack_id = HashBytes(std::as_bytes(std::span(table))),
                .base_pack = options.base == nullptr ? Hash128{} : options.base->id(),
                .build = contents.build};
  header.flags = (options.base == nullptr ? 0U : uint32_t{kDelta}) |
                 (options.key == nullptr ? 0U : uint32_t{kSigned}) |
                 (contents.cache_export ? uint32_t{kCacheExport} : 0U);
  if (header.file_size > kMaxFileBytes) {
    return PackError(kLimit, fmt::format("the pack would have {} bytes; at most {}",
                                         header.file_size, kMaxFileBytes));
  }
  header.checksum =
      Checksum64(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, checksum)));
  return header;
}

Result<Bytes> Sign(const SigningKey& key, const Header& header,
                   const std::vector<SectionEntry>& table, const Section& hashes) {
  const Sha256Digest message = SignedMessage(std::as_bytes(std::span(&header, 1)),
                                             std::as_bytes(std::span(table)), hashes.bytes);
  SignatureBlock block{.key_id = key.public_key().Id()};
  KILN_TRY(block.signature, key.Sign(std::as_bytes(std::span(message))));
  const ByteView bytes = std::as_bytes(std::span(&block, 1));
  return Bytes(bytes.begin(), bytes.end());
}

Result<void> WriteAt(FileWriter& file, uint64_t offset, ByteView bytes) {
  const Bytes gap(offset - file.size());
  KILN_TRY_VOID(file.Write(gap));
  return file.Write(bytes);
}

Result<void> WriteFile(const std::string& path, const Header& header,
                       const std::vector<SectionEntry>& table, const std::vector<Section>& sections,
                       const FileWriter& data) {
  KILN_TRY(FileWriter file, FileWriter::Create(path));
  KILN_TRY_VOID(file.Write(std::as_bytes(std::span(&header, 1))));
  KILN_TRY_VOID(file.Write(std::as_bytes(std::span(table))));
  for (size_t i = 0; i < sections.size(); ++i) {
    KILN_TRY_VOID(WriteAt(file, table[i].offset, sections[i].bytes));
  }
  KILN_TRY_VOID(WriteAt(file, table.back().offset, {}));
  KILN_TRY_VOID(file.Append(data));
  return file.Publish();
}

}  // namespace

Result<Written> WritePack(const Contents& contents, const BlobSource& blobs,
                          const WriteOptions& options, const std::string& path) {
  if (options.base != nullptr && options.base->links() >= kMaxLinks) {
    return PackError(kLimit, fmt::format("the base has {} packs below it; at most {} in all: "
                                         "flatten them",
                                         options.base->links(), kMaxLinks));
  }
  KILN_TRY(Index index, MakeIndex(contents));
  const uint64_t in_base = FindInBase(index, options.base);
  Bytes dictionary;
  if (options.mode == Mode::kFast) {
    KILN_TRY(dictionary, MakeDictionary(index, blobs));
  }
  KILN_TRY(FileWriter spool, FileWriter::Create(path));
  BlockWriter writer({.mode = options.mode, .dictionary = dictionary, .base = options.base}, spool);
  KILN_TRY_VOID(WriteBlobs(index, blobs, options.base, writer));

  std::vector<Section> sections = IndexSections(contents, index, writer.blocks(), dictionary);
  if (options.key != nullptr) {
    sections.push_back(HashesOf(sections, writer.hashes()));
    sections.push_back({.kind = SectionKind::kSignature,
                        .bytes = Bytes(sizeof(SignatureBlock)),
                        .rows = 1,
                        .flags = 0});
  }
  const std::vector<SectionEntry> table =
      Table(sections, spool.size(), writer.data_id(), writer.blocks().size());
  KILN_TRY(const Header header, HeaderOf(contents, options, table));
  if (options.key != nullptr) {
    KILN_TRY(sections.back().bytes,
             Sign(*options.key, header, table, sections[sections.size() - 2]));
  }
  KILN_TRY_VOID(WriteFile(path, header, table, sections, spool));
  return Written{.pack_id = header.pack_id,
                 .file_bytes = header.file_size,
                 .raw_bytes = writer.raw_total(),
                 .programs = index.programs.size(),
                 .artifacts = index.artifacts.size(),
                 .blobs = index.blobs.size(),
                 .in_base = in_base,
                 .pipelines = index.pipelines.size(),
                 .rows = index.cache_rows.size()};
}

}  // namespace kiln::pack
