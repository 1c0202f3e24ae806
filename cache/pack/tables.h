// SPDX-License-Identifier: MIT
// Bytes of a pack -> its tables, checked: header, section table, section sums, and that every index
// in every row is in range, so that whoever holds Tables needs no check of its own.
// See spec/cache 10.6, 10.10
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/pack/format.h"
#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::pack {

// Rows of its own; `data` is a view of the file's bytes, which must outlive it.
struct Tables {
  Tables() = default;
  Tables(Tables&&) = default;
  Tables& operator=(Tables&&) = default;
  Tables(const Tables&) = delete;

  Header header;
  std::vector<SectionEntry> sections;
  std::vector<std::pair<SectionKind, Bytes>> raw;  // sections without rows; the views' owner
  ByteView info;
  std::span<const uint32_t> string_ends;
  ByteView text;                   // of all strings
  std::span<const uint64_t> live;  // rows of 1 + live_words
  uint32_t live_words = 0;
  ByteView cache_values;
  std::vector<ProgramRow> programs;
  std::vector<OptionRow> options;
  std::vector<EntryRow> entries;
  std::vector<LayoutRow> layouts;
  std::vector<ArtifactRow> artifacts;
  std::vector<uint32_t> artifacts_by_key;
  std::vector<CodeRow> code;
  std::vector<PipelineRow> pipelines;
  std::vector<PassRow> passes;
  std::vector<WarmRow> warm;
  std::vector<HintRow> hints;
  std::vector<CacheRow> cache_rows;
  std::vector<BlobRow> blobs;
  std::vector<uint32_t> blobs_by_id;
  std::vector<BlockRow> blocks;
  std::vector<HashRow> hashes;
  uint32_t hashed_sections = 0;  // those before HASH; their rows of `hashes` come first
  std::optional<SignatureBlock> signature;
  uint64_t data_size = 0;        // as the table says
  ByteView data;                 // as much of it as the file has
  uint32_t complete_blocks = 0;  // that lie wholly within `data`
  uint32_t links = 0;            // bases below

  // Requires: a string of the pack.
  std::string_view String(uint32_t string) const {
    const uint32_t begin = string == 0 ? 0 : string_ends[string - 1];
    return AsText(text.subspan(begin, string_ends[string] - begin));
  }
  std::span<const OptionRow> OptionsOf(const ProgramRow& program) const {
    return std::span(options).subspan(program.first_option, program.option_count);
  }
  // The rows of WHNT of a row of WARM.
  std::span<const HintRow> Hints(const WarmRow& row) const {
    return std::span(hints).subspan(row.hints >> 8, row.hints & 0xFF);
  }
  // The mask of a row of LIVE.
  std::span<const uint64_t> Mask(uint32_t row) const {
    return live.subspan(size_t{row} * (1 + live_words) + 1, live_words);
  }
  // Whether modules of the block have a table of symbols. Requires: a row of BLKS.
  bool HasSymbols(uint32_t block) const {
    const BlockRow& row = blocks[block];
    return row.symbol_bytes != 0 ||
           (row.codec == Codec::kZstdAfterBlock && blocks[row.prefix].symbol_bytes != 0);
  }
  const Hash128& LayoutHash(const ArtifactRow& row) const { return layouts[row.layout].hash; }
  const Hash128& StateId(const ArtifactRow& row) const { return pipelines[row.pipeline].state_id; }
};

struct TableOptions {
  bool allow_partial = false;  // missing data is no error
  // The tables of the pack that was opened as base; may be null.
  const Tables* base = nullptr;
  // Asked when header, section table, HASH and SIGN are there, before anything is decompressed.
  std::function<Result<void>(const Tables&)> check = nullptr;
};

// Errors: PACK_NOT_A_PACK, PACK_NEEDS_NEWER, PACK_TOO_OLD, PACK_TRUNCATED, PACK_CORRUPT,
// PACK_LIMIT, PACK_BASE_MISSING; those of `check`.
Result<Tables> ReadTables(ByteView bytes, const TableOptions& options);

}  // namespace kiln::pack
