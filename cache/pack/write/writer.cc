// SPDX-License-Identifier: MIT
// Blocks are spooled beside the pack, because the index in front of them needs their sizes.
#include "cache/pack/write/writer.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cache/pack/compression.h"
#include "cache/pack/errors.h"
#include "cache/pack/sections.h"
#include "cache/pack/signing/trust.h"
#include "cache/pack/write/block_writer.h"
#include "cache/pack/write/family.h"
#include "cache/pack/write/index.h"
#include "compiler/base/files/new_file.h"
#include "compiler/base/hash/checksum.h"
#include "compiler/base/threads/stop.h"

namespace kiln::pack {
namespace {

struct Section {
  SectionKind kind;
  Bytes bytes;  // as they are stored
  uint64_t rows = 0;
  uint64_t raw_size = 0;
  Codec codec = Codec::kRaw;
};

// Ids do not compress, and the rest is small.
constexpr int kSectionLevel = 12;
// Blobs that are in memory at a time, because what they have in common is written first.
constexpr uint64_t kFamilyBytes = uint64_t{32} << 20;

Section Stored(SectionKind kind, Bytes bytes, uint64_t rows) {
  const uint64_t size = bytes.size();
  return {.kind = kind, .bytes = std::move(bytes), .rows = rows, .raw_size = size};
}

// Compresses index sections, those of a delta after the base's.
class SectionWriter {
 public:
  explicit SectionWriter(const Pack* base) : base_(base), compressor_(kSectionLevel) {}

  Section Pack(SectionKind kind, Bytes raw, uint64_t rows) {
    // The index of a delta is mostly that of its base, so it is compressed behind it and takes what
    // changed.
    const Bytes prefix = base_ == nullptr ? Bytes() : RawSection(base_->tables(), kind);
    Bytes compressed = compressor_.Compress(raw, prefix);
    if (compressed.size() >= raw.size() ||
        !IndexAllowed(raw.size(), compressed.size(), prefix.size())) {
      return Stored(kind, std::move(raw), rows);
    }
    return {.kind = kind,
            .bytes = std::move(compressed),
            .rows = rows,
            .raw_size = raw.size(),
            .codec = prefix.empty() ? Codec::kZstd : Codec::kZstdAfterBase};
  }

 private:
  const pack::Pack* const base_;
  Compressor compressor_;
};

Result<Bytes> ReadChecked(const BlobRow& row, const BlobSource& source) {
  const Digest digest{.id = row.id, .size = row.raw_size};
  if (digest.size > kMaxBlobBytes) {
    return PackError(kLimit, fmt::format("blob {} has {} bytes", row.id.hex(), digest.size));
  }
  KILN_TRY(Bytes blob, source(digest));
  // The source is the cache or another pack. Wrong bytes must not get a place under this id, even
  // if every later reader would notice.
  if (DigestOf(blob) != digest) {
    return Error{.code = ErrorCode::kCorrupt,
                 .context = fmt::format("blob {} has other bytes", row.id.hex()),
                 .reason = {}};
  }
  return blob;
}

// Blobs that the base has are taken from there.
// The size is compared as well as the id: the format has it in the row, and the reader does the
// same.
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

// Hands over blobs family by family; those of a delta with their kin in the base.
class FamilyReader {
 public:
  FamilyReader(Index& index, const BlobSource& source, const WriteOptions& options,
               BlockWriter& writer)
      : index_(index), source_(source), options_(options), writer_(writer) {
    if (options.base != nullptr) {
      kin_ = BlocksOfKin(*options.base);
    }
  }

  Result<void> WriteAll() {
    for (uint32_t i = 0; i < index_.blobs.size(); ++i) {
      CheckStop();
      BlobRow& row = index_.blobs[i];
      if ((row.flags & kInBase) != 0) {
        continue;
      }
      const BlobUse& use = index_.uses[i];
      const std::optional<KinBlocks> kin = KinOf(use);
      const std::optional<uint32_t> common =
          kin.has_value() ? std::optional(kin->common) : std::nullopt;
      // A family ends with its stage or group, where the kin in the base changes, or when so much
      // of it is in memory.
      if (!blobs_.empty() &&
          (use.family != family_ || common != common_ || bytes_ >= kFamilyBytes)) {
        KILN_TRY_VOID(Flush());
      }
      family_ = use.family;
      common_ = common;
      if (blobs_.empty()) {
        // The kin of the family's first blob is the prefix for all of them.
        base_block_ = kin.has_value() ? std::optional(kin->own) : std::nullopt;
      }
      KILN_TRY(Bytes blob, ReadChecked(row, source_));
      bytes_ += blob.size();
      raw_total_ += blob.size();
      blobs_.push_back({.row = &row, .bytes = std::move(blob)});
    }
    return blobs_.empty() ? Result<void>() : Flush();
  }

  uint64_t raw_total() const { return raw_total_; }

 private:
  // By names and not by numbers: the base was built from other sources and has other numbers.
  std::optional<KinBlocks> KinOf(const BlobUse& use) const {
    if (use.entry == kNone || kin_.empty()) {
      return std::nullopt;
    }
    const EntryRow& entry = index_.entries[use.entry];
    const auto found = kin_.find({index_.strings[index_.programs[entry.program].name],
                                  index_.strings[entry.target], use.stage});
    return found == kin_.end() ? std::nullopt : std::optional(found->second);
  }

  Result<void> Flush() {
    bytes_ = 0;
    return WriteFamily(std::exchange(blobs_, {}), {.pack = options_.base, .block = base_block_},
                       options_.mode, writer_);
  }

  Index& index_;
  const BlobSource& source_;
  const WriteOptions& options_;
  BlockWriter& writer_;
  std::map<Kin, KinBlocks> kin_;
  std::vector<FamilyBlob> blobs_;  // of the family that is read
  uint32_t family_ = 0;
  std::optional<uint32_t> common_;      // of its kin in the base
  std::optional<uint32_t> base_block_;  // of its first blob's kin
  uint64_t bytes_ = 0;
  uint64_t raw_total_ = 0;
};

std::vector<Section> IndexSections(const Contents& contents, const Index& index, const Pack* base) {
  SectionWriter writer(base);
  std::vector<Section> sections;
  for (IndexSection& section : IndexSectionsOf(contents.info, index)) {
    sections.push_back(writer.Pack(section.kind, std::move(section.raw), section.rows));
  }
  return sections;
}

// A hash for each section and each block, so a reader can check one block of a signed pack without
// reading the others.
Section HashesOf(const std::vector<Section>& sections, const std::vector<HashRow>& blocks) {
  std::vector<HashRow> rows;
  rows.reserve(sections.size() + blocks.size());
  for (const Section& section : sections) {
    rows.push_back({.sha256 = Sha256(section.bytes)});
  }
  rows.insert(rows.end(), blocks.begin(), blocks.end());
  const ByteView bytes = std::as_bytes(std::span(rows));
  return Stored(SectionKind::kHashes, Bytes(bytes.begin(), bytes.end()), rows.size());
}

uint64_t Aligned(uint64_t offset, uint64_t to) { return (offset + to - 1) / to * to; }

std::vector<SectionEntry> Table(const std::vector<Section>& sections, uint64_t data_bytes,
                                const Hash128& data_id, uint64_t block_count) {
  std::vector<SectionEntry> table;
  // Header and table stand in front; the one more is the data.
  uint64_t offset = sizeof(Header) + (sections.size() + 1) * sizeof(SectionEntry);
  for (const Section& section : sections) {
    offset = Aligned(offset, kSectionBytes);
    const bool is_signature = section.kind == SectionKind::kSignature;
    table.push_back({.kind = section.kind,
                     .flags = 0,
                     .offset = offset,
                     .stored_size = section.bytes.size(),
                     .raw_size = section.raw_size,
                     .codec = section.codec,
                     // The signature covers the table, so the table cannot have the signature's
                     // sum: it is filled in last, into room that was left for it.
                     .id = is_signature ? Hash128{} : HashBytes(section.bytes),
                     .rows = section.rows,
                     .checksum = is_signature ? 0 : Checksum64(section.bytes)});
    offset += section.bytes.size();
  }
  table.push_back({.kind = SectionKind::kData,
                   .flags = kMappable,
                   .offset = Aligned(offset, kSectionBytes),
                   .stored_size = data_bytes,
                   .raw_size = data_bytes,
                   .id = data_id,
                   .rows = block_count});
  return table;
}

Result<Header> HeaderOf(const Contents& contents, const WriteOptions& options,
                        const std::vector<SectionEntry>& table) {
  // The table has the id of each section, so its hash names all that the pack holds.
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

Result<void> WriteAt(NewFile& file, uint64_t offset, ByteView bytes) {
  // Zeros up to the alignment.
  const Bytes gap(offset - file.size());
  KILN_TRY_VOID(file.Write(gap));
  return file.Write(bytes);
}

Result<void> WriteFile(const std::string& path, const Header& header,
                       const std::vector<SectionEntry>& table, const std::vector<Section>& sections,
                       const NewFile& data) {
  KILN_TRY(NewFile file, NewFile::CreateDurable(path));
  KILN_TRY_VOID(file.Write(std::as_bytes(std::span(&header, 1))));
  KILN_TRY_VOID(file.Write(std::as_bytes(std::span(table))));
  for (size_t i = 0; i < sections.size(); ++i) {
    KILN_TRY_VOID(WriteAt(file, table[i].offset, sections[i].bytes));
  }
  KILN_TRY_VOID(WriteAt(file, table.back().offset, {}));
  KILN_TRY_VOID(file.Append(data));
  // The file has its name only now, so a crash before leaves no half of a pack.
  return file.Publish();
}

}  // namespace

Result<WriteReport> WritePack(const Contents& contents, const BlobSource& blobs,
                              const WriteOptions& options, const std::string& path) {
  if (options.base != nullptr && options.base->links() >= kMaxLinks) {
    return PackError(kLimit, fmt::format("the base has {} packs below it; at most {} in all: "
                                         "flatten them",
                                         options.base->links(), kMaxLinks));
  }
  KILN_TRY(Index index, MakeIndex(contents));
  const uint64_t in_base = FindInBase(index, options.base);
  // Blocks go to a file of their own first, as the index that stands in front of them has their
  // sizes. Memory holds one family at a time, however large the pack is.
  KILN_TRY(NewFile spool, NewFile::CreateDurable(path));
  BlockWriter writer(LevelOf(options.mode), spool);
  FamilyReader families(index, blobs, options, writer);
  KILN_TRY_VOID(families.WriteAll());
  index.blocks = writer.TakeBlocks();

  // Everything is known now: places of blobs and blocks were filled in while they were written.
  std::vector<Section> sections = IndexSections(contents, index, options.base);
  if (options.key != nullptr) {
    sections.push_back(HashesOf(sections, writer.hashes()));
    sections.push_back(Stored(SectionKind::kSignature, Bytes(sizeof(SignatureBlock)), 1));
  }
  const std::vector<SectionEntry> table =
      Table(sections, spool.size(), writer.data_id(), index.blocks.size());
  KILN_TRY(const Header header, HeaderOf(contents, options, table));
  if (options.key != nullptr) {
    KILN_TRY(sections.back().bytes,
             // Hashes stand just before the signature.
             Sign(*options.key, header, table, sections[sections.size() - 2]));
  }
  // The last step, and the only one that others can see.
  KILN_TRY_VOID(WriteFile(path, header, table, sections, spool));
  return WriteReport{.pack_id = header.pack_id,
                     .file_bytes = header.file_size,
                     .raw_bytes = families.raw_total(),
                     .programs = index.programs.size(),
                     .artifacts = index.artifacts.size(),
                     .blobs = index.blobs.size(),
                     .in_base = in_base,
                     .pipelines = index.pipelines.size(),
                     .rows = index.cache_rows.size()};
}

}  // namespace kiln::pack
