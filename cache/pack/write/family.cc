// SPDX-License-Identifier: MIT
#include "cache/pack/write/family.h"

#include <algorithm>
#include <utility>

#include "cache/compression/dictionary.h"
#include "cache/module_codec.h"
#include "compiler/base/threads/stop.h"

namespace kiln::pack {
namespace {

// Levels of zstd and raw sizes of blocks: small blocks are quick to read one artifact from, large
// ones compress better.
constexpr int kFastLevel = 9;
constexpr int kSmallLevel = 19;
constexpr uint64_t kFastBlockBytes = uint64_t{64} << 10;
constexpr uint64_t kSmallBlockBytes = uint64_t{256} << 10;
// Of the blobs in the first block. Modules have more in common than metadata.
constexpr uint64_t kModuleSampleBytes = uint64_t{192} << 10;
constexpr uint64_t kOtherSampleBytes = uint64_t{64} << 10;
// A single sample has nothing in common with itself; then every block stands alone.
constexpr size_t kFewestSamples = 2;

uint64_t BlockBytesOf(Mode mode) {
  return mode == Mode::kFast ? kFastBlockBytes : kSmallBlockBytes;
}

bool IsModule(ByteView blob) { return cache::ContentKindOf(blob) == cache::ContentKind::kCode; }

// All of them if they fit into the first block, else every nth.
std::vector<bool> Samples(const std::vector<FamilyBlob>& blobs, uint64_t most_bytes) {
  std::vector<bool> samples(blobs.size());
  uint64_t total = 0;
  for (const FamilyBlob& blob : blobs) {
    total += blob.bytes.size();
  }
  if (total <= most_bytes) {
    samples.assign(blobs.size(), true);
    return samples;
  }
  const size_t count = most_bytes * blobs.size() / total;
  if (count < kFewestSamples) {
    return samples;
  }
  uint64_t taken = 0;
  for (size_t i = 0; i < count; ++i) {
    // Evenly spread over the family, from the middle of each stretch, so that each kind of variant
    // is likely to be among the samples.
    const size_t at = (2 * i + 1) * blobs.size() / (2 * count);
    // A blob that is too large for what is left is skipped, so the samples stay within their bound.
    if (taken + blobs[at].bytes.size() <= most_bytes) {
      samples[at] = true;
      taken += blobs[at].bytes.size();
    }
  }
  return samples;
}

class Writer {
 public:
  Writer(const FamilyBase& base, Mode mode, BlockWriter& writer)
      : base_(base), block_bytes_(BlockBytesOf(mode)), writer_(writer) {}

  // Order of the steps: the prefix of the base, the modules' symbols, the first block with samples
  // and table, then all others behind it. Each step needs what the one before established.
  Result<void> Write(std::vector<FamilyBlob> blobs) {
    KILN_TRY_VOID(FindPrefix());
    KILN_TRY_VOID(Encode(blobs));
    const std::vector<bool> samples =
        Samples(blobs, has_modules_ ? kModuleSampleBytes : kOtherSampleBytes);
    KILN_TRY_VOID(WriteFirst(blobs, samples));
    std::vector<FamilyBlob*> others;
    uint64_t bytes = 0;
    for (size_t i = 0; i < blobs.size(); ++i) {
      CheckStop();
      if (samples[i]) {
        continue;
      }
      if (!others.empty() && bytes + blobs[i].bytes.size() > block_bytes_) {
        KILN_TRY_VOID(WriteBlock({}, others, prefix_));
        others.clear();
        bytes = 0;
      }
      others.push_back(&blobs[i]);
      bytes += blobs[i].bytes.size();
    }
    return others.empty() ? Result<void>() : WriteBlock({}, others, prefix_);
  }

 private:
  Result<void> FindPrefix() {
    if (base_.pack != nullptr && base_.block.has_value()) {
      KILN_TRY(base_bytes_, base_.pack->ReadPrefix(*base_.block));
      prefix_ = {.codec = Codec::kZstdAfterBase, .block = *base_.block, .bytes = base_bytes_};
    }
    return {};
  }

  // Modules get symbols in the place of ids.
  Result<void> Encode(std::vector<FamilyBlob>& blobs) {
    // A delta goes on with the table of its base's block, so that equal definitions have equal
    // symbols and the modules stay alike.
    cache::SymbolTable start;
    if (prefix_.block != kNone && base_.pack->tables().HasSymbols(prefix_.block)) {
      KILN_TRY(const std::shared_ptr<const cache::SymbolTable> symbols,
               base_.pack->SymbolsOf(prefix_.block));
      start = *symbols;
    }
    cache::SymbolWriter symbols(start);
    std::vector<size_t> numbers(blobs.size());
    for (size_t i = 0; i < blobs.size(); ++i) {
      const FamilyBlob& blob = blobs[i];
      CheckStop();
      if (IsModule(blob.bytes)) {
        numbers[i] = symbols.Add(blob.bytes);
      }
    }
    for (size_t i = 0; i < blobs.size(); ++i) {
      FamilyBlob& blob = blobs[i];
      CheckStop();
      if (!IsModule(blob.bytes)) {
        continue;
      }
      // Two passes: the table must be complete before the first module is written with it. A module
      // that cannot be written so, or became too small for the ratio of readers, stays as it is.
      std::optional<Bytes> encoded = symbols.Encode(blob.bytes, numbers[i]);
      if (encoded.has_value() && RatioAllowed(blob.bytes.size(), encoded->size())) {
        blob.bytes = *std::move(encoded);
        blob.row->flags |= kModule;
        has_modules_ = true;
      }
    }
    if (has_modules_) {
      table_ = symbols.Table();
    }
    return {};
  }

  Result<void> WriteFirst(std::vector<FamilyBlob>& blobs, const std::vector<bool>& samples) {
    std::vector<FamilyBlob*> first;
    for (size_t i = 0; i < blobs.size(); ++i) {
      if (samples[i]) {
        first.push_back(&blobs[i]);
      }
    }
    // Nothing is common, so the blocks have no prefix but that of the base.
    if (first.empty() && table_.empty()) {
      return {};
    }
    KILN_TRY_VOID(WriteBlock(table_, first, prefix_));
    // From here on the first block is the prefix of all others. Its bytes move to a member of their
    // own, because raw_ is reused by the next block.
    prefix_ = {.codec = Codec::kZstdAfterBlock, .block = last_block_, .bytes = raw_};
    first_bytes_ = std::move(raw_);
    prefix_.bytes = first_bytes_;
    return {};
  }

  Result<void> WriteBlock(ByteView table, const std::vector<FamilyBlob*>& blobs,
                          const BlockPrefix& prefix) {
    raw_.assign(table.begin(), table.end());
    Raw stored_raw = Raw::kAllowed;
    for (const FamilyBlob* blob : blobs) {
      // Modules find their table through the prefix of their block, so this block must keep its
      // prefix even if compression gains nothing.
      if ((blob->row->flags & kModule) != 0 && table.empty()) {
        stored_raw = Raw::kNever;
      }
      blob->row->offset = static_cast<uint32_t>(raw_.size());
      blob->row->size = static_cast<uint32_t>(blob->bytes.size());
      Append(raw_, blob->bytes);
    }
    KILN_TRY(last_block_,
             writer_.Add(raw_, prefix, static_cast<uint32_t>(table.size()), stored_raw));
    for (const FamilyBlob* blob : blobs) {
      blob->row->block = last_block_;
    }
    return {};
  }

  const FamilyBase& base_;
  const uint64_t block_bytes_;
  BlockWriter& writer_;
  Bytes base_bytes_, first_bytes_;  // what prefix_ views
  BlockPrefix prefix_;
  Bytes table_;
  bool has_modules_ = false;
  Bytes raw_;  // of the block that was written last
  uint32_t last_block_ = kNone;
};

}  // namespace

int LevelOf(Mode mode) { return mode == Mode::kFast ? kFastLevel : kSmallLevel; }

std::map<Kin, KinBlocks> BlocksOfKin(const Pack& pack) {
  const Tables& tables = pack.tables();
  std::map<Kin, KinBlocks> kin;
  const auto add = [&](const ArtifactRow& artifact, uint32_t stage, uint32_t blob) {
    const BlobRow& row = tables.blobs[blob];
    if ((row.flags & kInBase) != 0) {
      return;
    }
    const BlockRow& block = tables.blocks[row.block];
    const EntryRow& entry = tables.entries[artifact.entry];
    const uint32_t common = block.codec == Codec::kZstdAfterBlock ? block.prefix : row.block;
    if (tables.blocks[common].raw_size > kMaxPrefixBytes) {
      return;  // a large blob on its own
    }
    // The block that most blobs of a program, target and stage lean on, and the first one that has
    // blobs of this very entry: the new version of an edited shader is most like its old one, which
    // lies there.
    KinBlocks& found = kin.try_emplace(Kin(tables.String(tables.programs[entry.program].name),
                                           tables.String(entry.target), stage),
                                       KinBlocks{.common = common, .own = common})
                           .first->second;
    if (found.own == found.common && common == found.common && block.raw_size <= kMaxPrefixBytes) {
      found.own = row.block;
    }
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
  return kin;
}

Result<void> WriteFamily(std::vector<FamilyBlob> blobs, const FamilyBase& base, Mode mode,
                         BlockWriter& writer) {
  return Writer(base, mode, writer).Write(std::move(blobs));
}

}  // namespace kiln::pack
