// SPDX-License-Identifier: MIT
// Blocks are spooled beside the pack, because the index in front of them needs their sizes.
#include "cache/pack/writer.h"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <zstd.h>

#include "cache/pack/errors.h"
#include "cache/pack/file_writer.h"
#include "cache/pack/index.h"
#include "compiler/base/check.h"

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

Section Strings(const std::vector<std::string>& strings) {
  Section section{.kind = SectionKind::kStrings, .bytes = {}, .rows = strings.size()};
  AppendLittle(section.bytes, static_cast<uint32_t>(strings.size()));
  uint32_t end = 0;
  for (const std::string& text : strings) {
    end += static_cast<uint32_t>(text.size());
    AppendLittle(section.bytes, end);  // where the text ends
  }
  for (const std::string& text : strings) {
    Append(section.bytes, AsBytes(text));
  }
  return section;
}

// Gathers blobs into blocks and spools them.
class BlockWriter {
 public:
  BlockWriter(Mode mode, FileWriter& spool) : mode_(mode), spool_(spool) {}

  Result<void> Add(BlobRow& row, ByteView blob) {
    if (!raw_.empty() && raw_.size() + blob.size() > kBlockBytes) {
      KILN_TRY_VOID(Flush());
    }
    row.block = static_cast<uint32_t>(blocks_.size());
    row.offset = static_cast<uint32_t>(raw_.size());
    Append(raw_, blob);
    raw_total_ += blob.size();
    return {};
  }

  Result<void> Flush() {
    if (raw_.empty()) {
      return {};
    }
    stored_.resize(ZSTD_compressBound(raw_.size()));
    const size_t size = ZSTD_compress(stored_.data(), stored_.size(), raw_.data(), raw_.size(),
                                      mode_ == Mode::kFast ? 3 : 19);
    KILN_CHECK(ZSTD_isError(size) == 0);
    const bool smaller = size < raw_.size();
    const ByteView stored = smaller ? ByteView(stored_).first(size) : ByteView(raw_);
    blocks_.push_back({.offset = spool_.size(),
                       .stored_size = static_cast<uint32_t>(stored.size()),
                       .raw_size = static_cast<uint32_t>(raw_.size()),
                       .id = HashBytes(stored),
                       .codec = smaller ? Codec::kZstd : Codec::kRaw});
    data_.Update(stored);
    KILN_TRY_VOID(spool_.Write(stored));
    raw_.clear();
    return {};
  }

  const std::vector<BlockRow>& blocks() const { return blocks_; }
  uint64_t raw_total() const { return raw_total_; }
  Hash128 data_id() const { return data_.Finish().id; }

 private:
  const Mode mode_;
  FileWriter& spool_;
  std::vector<BlockRow> blocks_;
  Bytes raw_, stored_;
  uint64_t raw_total_ = 0;
  Hasher data_;
};

Result<void> WriteBlobs(Index& index, const BlobSource& source, BlockWriter& writer) {
  for (const uint32_t i : index.data_order) {
    BlobRow& row = index.blobs[i];
    const Digest digest{.id = row.id, .size = row.raw_size};
    KILN_TRY(const Bytes blob, source(digest));
    if (DigestOf(blob) != digest) {
      return Error{.code = ErrorCode::kCorrupt,
                   .context = fmt::format("blob {} has other bytes", row.id.hex()),
                   .reason = {}};
    }
    if (blob.size() > kMaxBlobBytes) {
      return PackError(kLimit, fmt::format("blob {} has {} bytes", row.id.hex(), blob.size()));
    }
    KILN_TRY_VOID(writer.Add(row, blob));
  }
  return writer.Flush();
}

std::vector<Section> IndexSections(const Contents& contents, const Index& index,
                                   const std::vector<BlockRow>& blocks) {
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
  sections.push_back(Rows(SectionKind::kBlobs, index.blobs));
  sections.push_back(Rows(SectionKind::kBlocks, blocks));
  return sections;
}

uint64_t Aligned(uint64_t offset) { return (offset + kPageBytes - 1) / kPageBytes * kPageBytes; }

std::vector<SectionEntry> Table(const std::vector<Section>& sections, uint64_t data_bytes,
                                const Hash128& data_id, uint64_t block_count) {
  std::vector<SectionEntry> table;
  uint64_t offset = sizeof(Header) + (sections.size() + 1) * sizeof(SectionEntry);
  for (const Section& section : sections) {
    offset = (section.flags & kMappable) != 0 ? Aligned(offset) : offset;
    table.push_back({.kind = section.kind,
                     .flags = section.flags,
                     .offset = offset,
                     .stored_size = section.bytes.size(),
                     .raw_size = section.bytes.size(),
                     .id = HashBytes(section.bytes),
                     .rows = section.rows});
    offset += section.bytes.size();
  }
  table.push_back({.kind = SectionKind::kData,
                   .flags = kMappable,
                   .offset = Aligned(offset),
                   .stored_size = data_bytes,
                   .raw_size = data_bytes,
                   .id = data_id,
                   .rows = block_count});
  return table;
}

Result<void> WriteAt(FileWriter& file, uint64_t offset, ByteView bytes) {
  const Bytes gap(offset - file.size());
  KILN_TRY_VOID(file.Write(gap));
  return file.Write(bytes);
}

}  // namespace

Result<Written> WritePack(const Contents& contents, const BlobSource& blobs, Mode mode,
                          const std::string& path) {
  KILN_TRY(Index index, MakeIndex(contents));
  KILN_TRY(FileWriter spool, FileWriter::Create(path));
  BlockWriter writer(mode, spool);
  KILN_TRY_VOID(WriteBlobs(index, blobs, writer));

  const std::vector<Section> sections = IndexSections(contents, index, writer.blocks());
  const std::vector<SectionEntry> table =
      Table(sections, spool.size(), writer.data_id(), writer.blocks().size());
  Header header{.file_size = table.back().offset + table.back().stored_size,
                .section_count = static_cast<uint32_t>(table.size()),
                .pack_id = HashBytes(std::as_bytes(std::span(table))),
                .base_pack = {},
                .build = contents.build};
  if (header.file_size > kMaxFileBytes) {
    return PackError(kLimit, fmt::format("the pack would have {} bytes; at most {}",
                                         header.file_size, kMaxFileBytes));
  }
  const ByteView bytes = std::as_bytes(std::span(&header, 1));
  header.checksum = Hash64(bytes.first(offsetof(Header, checksum)));

  KILN_TRY(FileWriter file, FileWriter::Create(path));
  KILN_TRY_VOID(file.Write(bytes));
  KILN_TRY_VOID(file.Write(std::as_bytes(std::span(table))));
  for (size_t i = 0; i < sections.size(); ++i) {
    KILN_TRY_VOID(WriteAt(file, table[i].offset, sections[i].bytes));
  }
  KILN_TRY_VOID(WriteAt(file, table.back().offset, {}));
  KILN_TRY_VOID(file.Append(spool));
  KILN_TRY_VOID(file.Publish());
  return Written{.pack_id = header.pack_id,
                 .file_bytes = header.file_size,
                 .raw_bytes = writer.raw_total(),
                 .programs = index.programs.size(),
                 .artifacts = index.artifacts.size(),
                 .blobs = index.blobs.size(),
                 .pipelines = index.pipelines.size()};
}

}  // namespace kiln::pack
