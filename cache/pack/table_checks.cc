// SPDX-License-Identifier: MIT
// The checks of a pack's tables at opening (spec/cache 10). They cost one pass over each table, and
// two sorts by hash.
#include "cache/pack/table_checks.h"

#include <tuple>
#include <utility>

#include "cache/module_codec.h"
#include "cache/pack/compression.h"
#include "cache/pack/hash_order.h"
#include "cache/store.h"

namespace kiln::pack {
namespace {

// After these checks the rest of the reader indexes without looking: every reference is in range,
// every order that a search relies on holds, and sizes are bounded. No check allocates for each
// row.
class RowChecker {
 public:
  RowChecker(Tables& tables, const Tables* base) : tables_(tables), base_(base) {}

  Result<void> Check() {
    KILN_TRY_VOID(CheckPrograms());
    KILN_TRY_VOID(CheckArtifacts());
    KILN_TRY_VOID(CheckWarm());
    KILN_TRY_VOID(CheckCacheRows());
    KILN_TRY_VOID(CheckBlobs());
    return CheckHashes();
  }

 private:
  Result<void> CheckPrograms();
  Result<void> CheckArtifacts();
  Result<void> CheckKeys();
  Result<void> CheckWarm();
  Result<void> CheckCacheRows();
  Result<void> CheckBlock(uint32_t block);
  Result<void> CheckBlocks();
  Result<void> CheckBlobs();
  Result<void> CheckHashes();
  bool IsString(uint32_t string) const { return string < tables_.string_ends.size(); }

  Tables& tables_;
  const Tables* base_;
};

// Programs have options of their own: their rows are looked at once, however many programs there
// are.
Result<void> RowChecker::CheckPrograms() {
  const Tables& t = tables_;
  uint64_t options = 0;
  for (const ProgramRow& row : t.programs) {
    // Ranges of programs may not overlap in sum, or a thousand programs that share a million
    // options would cost a thousand million steps below.
    options += row.option_count;
    if (options > t.options.size()) {
      return Corrupt("section OPTN: {} rows, programs have more", t.options.size());
    }
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
  // A mask must have a bit for every option of its program, since look-ups read that many.
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

Result<void> RowChecker::CheckArtifacts() {
  const Tables& t = tables_;
  if (t.artifacts.size() > kMaxEntries) {
    return PackError(kLimit, fmt::format("{} artifacts", t.artifacts.size()));
  }
  for (const ArtifactRow& row : t.artifacts) {
    // Metadata alone has no code rows.
    const bool has_code = row.first_code != kNone || row.code_count != 0;
    if ((has_code && !InRange(row.first_code, row.code_count, t.code.size())) ||
        row.code_count > kMaxModules || (row.metadata != kNone && row.metadata >= t.blobs.size()) ||
        row.entry >= t.entries.size() || row.layout >= t.layouts.size() ||
        row.pipeline >= t.pipelines.size()) {
      return Corrupt("section ARTF: row {}", &row - t.artifacts.data());
    }
  }
  for (const CodeRow& row : t.code) {
    if (row.blob >= t.blobs.size()) {
      return Corrupt("section CODE: row {}", &row - t.code.data());
    }
  }
  for (const PipelineRow& row : t.pipelines) {
    if (row.artifact >= t.artifacts.size()) {
      return Corrupt("section PSOS: row {}", &row - t.pipelines.data());
    }
  }
  return CheckKeys();
}

Result<void> RowChecker::CheckKeys() {
  Tables& t = tables_;
  // Sorted once at opening, and duplicates are found on the way: which of two artifacts of an entry
  // with one key is meant nobody could say. Entries of equal content, of programs that differ in
  // their names, have equal keys; their artifacts stand in the order of the entries, so that a
  // search for key and entry finds each.
  HashOrder order = OrderByHash(
      t.artifacts, [](const ArtifactRow& row) -> const Hash128& { return row.live_key; },
      [](const ArtifactRow& a, const ArtifactRow& b) { return a.entry < b.entry; });
  if (order.twice.has_value()) {
    return Corrupt("section ARTF: row {} is there twice", *order.twice);
  }
  t.artifacts_by_key = std::move(order.rows);
  return {};
}

// The upper bits of `hints` are the first row and the lowest eight the number of rows.
Result<void> RowChecker::CheckWarm() {
  const Tables& t = tables_;
  // In the strict order of their names, which refuses two of one name as well.
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

// Rows of a cache export are in the order of their keys, which makes equal exports equal files.
Result<void> RowChecker::CheckCacheRows() {
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

// A prefix is one step away and not large: what is a prefix has none within the pack. So a blob
// takes its own block, and two of kMaxPrefixBytes of each pack of a chain at most.
Result<void> RowChecker::CheckBlock(uint32_t block) {
  Tables& t = tables_;
  const BlockRow& row = t.blocks[block];
  bool named = row.prefix == kNone;
  if (row.codec == Codec::kZstdAfterBase) {
    named = base_ != nullptr && row.prefix < base_->blocks.size() &&
            base_->blocks[row.prefix].raw_size <= kMaxPrefixBytes;
  } else if (row.codec == Codec::kZstdAfterBlock) {
    named = row.prefix < block && t.blocks[row.prefix].codec != Codec::kZstdAfterBlock &&
            t.blocks[row.prefix].raw_size <= kMaxPrefixBytes;
  }
  if (!InRange(row.offset, row.stored_size, t.data_size) || !named ||
      row.symbol_bytes > row.raw_size || row.symbol_bytes > cache::kMaxSymbolBytes) {
    return Corrupt("section BLKS: row {}", block);
  }
  if (row.raw_size > kMaxBlobBytes + kBlockBytes) {
    return PackError(kLimit, fmt::format("section BLKS: row {} claims {} bytes; at most {}", block,
                                         row.raw_size, kMaxBlobBytes + kBlockBytes));
  }
  // How many blocks a file that was cut off has whole.
  t.complete_blocks += InRange(row.offset, row.stored_size, t.data.size()) ? 1 : 0;
  return {};
}

Result<void> RowChecker::CheckBlocks() {
  for (uint32_t block = 0; block < tables_.blocks.size(); ++block) {
    KILN_TRY_VOID(CheckBlock(block));
  }
  return {};
}

Result<void> RowChecker::CheckBlobs() {
  Tables& t = tables_;
  KILN_TRY_VOID(CheckBlocks());
  for (const BlobRow& row : t.blobs) {
    const bool module = (row.flags & kModule) != 0;
    const bool found = (row.flags & kInBase) != 0
                           ? base_ != nullptr
                           : row.block < t.blocks.size() &&
                                 InRange(row.offset, row.size, t.blocks[row.block].raw_size) &&
                                 // A blob that is not encoded is as long in its block as it is
                                 // itself.
                                 (module ? t.HasSymbols(row.block) : row.size == row.raw_size);
    if (!found) {
      return Corrupt("section BIDX: row {}", &row - t.blobs.data());
    }
    // The size of a decoded module is only a claim until it is decoded, so it is bounded before
    // room is made for it.
    if (module && (row.raw_size > kMaxBlobBytes || !RatioAllowed(row.raw_size, row.size))) {
      return PackError(kLimit, fmt::format("section BIDX: row {} claims {} bytes",
                                           &row - t.blobs.data(), row.raw_size));
    }
  }
  HashOrder order =
      OrderByHash(t.blobs, [](const BlobRow& row) -> const Hash128& { return row.id; });
  if (order.twice.has_value()) {
    return Corrupt("section BIDX: row {} is there twice", *order.twice);
  }
  t.blobs_by_id = std::move(order.rows);
  return {};
}

// A file either has hashes for all sections and blocks or none. The flag must agree with what is
// there, so that nobody can cut a signature off unnoticed.
Result<void> RowChecker::CheckHashes() {
  const Tables& t = tables_;
  const bool is_signed = t.signature.has_value() && t.hashed_sections != 0;
  if (((t.header.flags & kSigned) != 0) != is_signed ||
      (!t.hashes.empty() && t.hashes.size() != t.hashed_sections + t.blocks.size())) {
    return Corrupt("section HASH: {} rows, flags {}", t.hashes.size(), t.header.flags);
  }
  return {};
}

}  // namespace

Result<void> CheckRows(Tables& tables, const Tables* base) {
  return RowChecker(tables, base).Check();
}

}  // namespace kiln::pack
