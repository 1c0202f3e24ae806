// SPDX-License-Identifier: MIT
// Bytes of a pack -> its tables, checked: header, section table, section sums, and that every index
// in every row is in range, so that whoever holds Tables needs no check of its own.
// Spec: cache §10.6, §10.10
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cache/pack/format.h"
#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::pack {

// Views into the bytes, which must outlive them and lie at a multiple of 8.
struct Tables {
  Header header;
  std::vector<SectionEntry> sections;
  ByteView info;
  std::span<const uint32_t> string_ends;
  ByteView text;  // of all strings
  std::span<const ProgramRow> programs;
  std::span<const OptionRow> options;
  std::span<const EntryRow> entries;
  std::span<const uint64_t> live;  // rows of 1 + live_words
  uint32_t live_words = 0;
  std::span<const ArtifactRow> artifacts;
  std::span<const CodeRow> code;
  std::span<const PipelineRow> pipelines;
  std::span<const PassRow> passes;
  std::span<const WarmRow> warm;
  std::span<const HintRow> hints;
  std::span<const CacheRow> cache_rows;
  ByteView cache_values;
  std::span<const BlobRow> blobs;
  std::span<const BlockRow> blocks;
  std::vector<ByteView> dictionaries;
  std::span<const HashRow> hashes;
  uint32_t hashed_sections = 0;  // those before HASH; their rows of `hashes` come first
  std::optional<SignatureBlock> signature;
  uint64_t data_size = 0;        // as the table says
  ByteView data;                 // as much of it as the file has
  uint32_t complete_blocks = 0;  // that lie wholly within `data`

  // Requires: a string of the pack.
  std::string_view String(uint32_t string) const {
    const uint32_t begin = string == 0 ? 0 : string_ends[string - 1];
    return AsText(text.subspan(begin, string_ends[string] - begin));
  }
  // The rows of WHNT of a row of WARM.
  std::span<const HintRow> Hints(const WarmRow& row) const {
    return hints.subspan(row.hints >> 8, row.hints & 0xFF);
  }
  // The mask of a row of LIVE.
  std::span<const uint64_t> Mask(uint32_t row) const {
    return live.subspan(size_t{row} * (1 + live_words) + 1, live_words);
  }
};

// Errors: PACK_NOT_A_PACK, PACK_NEEDS_NEWER, PACK_TRUNCATED, PACK_CORRUPT, PACK_LIMIT; with
// `allow_partial` missing data is none.
Result<Tables> ReadTables(ByteView bytes, bool allow_partial);

}  // namespace kiln::pack
