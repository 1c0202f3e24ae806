// SPDX-License-Identifier: MIT
#include "cache/pack/block_writer.h"

#include <zstd.h>

#include "cache/pack/decoder.h"
#include "compiler/base/check.h"
#include "compiler/base/checksum.h"

namespace kiln::pack {
namespace {

constexpr int kFastLevel = 3;
constexpr int kSmallLevel = 19;
constexpr int kPrefixWindowLog = 23;  // prefix and block together
constexpr uint64_t kFastBlockBytes = uint64_t{128} << 10;

int LevelOf(Mode mode) { return mode == Mode::kFast ? kFastLevel : kSmallLevel; }

// A dictionary makes small blocks cheap, and small blocks make single blobs cheap to read.
uint64_t BlockBytesOf(Mode mode) { return mode == Mode::kFast ? kFastBlockBytes : kBlockBytes; }

struct Free {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_CDict* dictionary) const { ZSTD_freeCDict(dictionary); }
};

}  // namespace

std::map<Kin, uint32_t> FirstBlocks(const Pack& pack) {
  const Tables& tables = pack.tables();
  std::map<Kin, uint32_t> first;
  const auto add = [&](const ArtifactRow& artifact, uint32_t stage, uint32_t blob) {
    const BlobRow& row = tables.blobs[blob];
    if ((row.flags & kInBase) != 0) {
      return;
    }
    const EntryRow& entry = tables.entries[artifact.entry];
    const std::string_view program = tables.String(tables.programs[entry.program].name);
    const auto [found, is_new] =
        first.emplace(Kin(program, tables.String(entry.target), stage), row.block);
    found->second = std::min(found->second, row.block);
  };
  for (const ArtifactRow& artifact : tables.artifacts) {
    for (uint32_t i = 0; i < artifact.code_count; ++i) {
      const CodeRow& code = tables.code[artifact.first_code + i];
      add(artifact, code.stage, code.blob);
    }
    if (artifact.metadata != kNone) {
      add(artifact, kNone, artifact.metadata);
    }
  }
  return first;
}

struct BlockWriter::Compressor {
  std::unique_ptr<ZSTD_CCtx, Free> context{ZSTD_createCCtx()};
  std::unique_ptr<ZSTD_CDict, Free> dictionary;
};

BlockWriter::BlockWriter(const Options& options, FileWriter& spool)
    : options_(options), spool_(spool), compressor_(std::make_unique<Compressor>()) {
  KILN_CHECK(compressor_->context != nullptr);
  if (!options_.dictionary.empty()) {
    compressor_->dictionary.reset(ZSTD_createCDict(
        options_.dictionary.data(), options_.dictionary.size(), LevelOf(options_.mode)));
    KILN_CHECK(compressor_->dictionary != nullptr);
  }
}

BlockWriter::~BlockWriter() = default;

Result<void> BlockWriter::Add(BlobRow& row, ByteView blob, std::optional<uint32_t> prefix) {
  if (!raw_.empty() &&
      (raw_.size() + blob.size() > BlockBytesOf(options_.mode) || prefix != prefix_)) {
    KILN_TRY_VOID(Flush());
  }
  prefix_ = prefix;
  row.block = static_cast<uint32_t>(blocks_.size());
  row.offset = static_cast<uint32_t>(raw_.size());
  Append(raw_, blob);
  raw_total_ += blob.size();
  return {};
}

// Leaves what is stored in stored_, empty if it is to be the raw bytes.
Result<void> BlockWriter::Compress(BlockRow& row) {
  ZSTD_CCtx* context = compressor_->context.get();
  (void)ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  (void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LevelOf(options_.mode));
  Bytes prefix;
  row.codec = Codec::kZstd;
  if (prefix_.has_value()) {
    KILN_TRY(prefix, options_.base->ReadBlock(*prefix_));
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, kPrefixWindowLog);
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
    (void)ZSTD_CCtx_refPrefix(context, prefix.data(), prefix.size());
    row.codec = Codec::kZstdAfterBase;
    row.dictionary = *prefix_;
  } else if (compressor_->dictionary != nullptr) {
    (void)ZSTD_CCtx_refCDict(context, compressor_->dictionary.get());
    row.dictionary = 0;
  }
  stored_.resize(ZSTD_compressBound(raw_.size()));
  const size_t size =
      ZSTD_compress2(context, stored_.data(), stored_.size(), raw_.data(), raw_.size());
  KILN_CHECK(ZSTD_isError(size) == 0, "{}", ZSTD_getErrorName(size));
  stored_.resize(size);
  if (size >= raw_.size() || !RatioAllowed(raw_.size(), size)) {
    stored_.clear();
    row.codec = Codec::kRaw;
    row.dictionary = kNone;
  }
  return {};
}

Result<void> BlockWriter::Flush() {
  if (raw_.empty()) {
    return {};
  }
  BlockRow row{.offset = spool_.size(), .raw_size = static_cast<uint32_t>(raw_.size())};
  KILN_TRY_VOID(Compress(row));
  const ByteView stored = row.codec == Codec::kRaw ? ByteView(raw_) : ByteView(stored_);
  row.stored_size = static_cast<uint32_t>(stored.size());
  row.sum = Checksum(stored);
  blocks_.push_back(row);
  hashes_.push_back({.sha256 = Sha256(stored)});
  data_.Update(stored);
  KILN_TRY_VOID(spool_.Write(stored));
  raw_.clear();
  return {};
}

}  // namespace kiln::pack
