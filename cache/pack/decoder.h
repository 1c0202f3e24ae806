// SPDX-License-Identifier: MIT
// Stored bytes of a block -> its raw bytes, bounded by what its row says. Input is hostile.
// Spec: cache §10.4, §10.6, §10.9
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cache/pack/format.h"
#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::pack {

// A block larger than kRatioFreeBytes of the cache's codec may have at most so many raw bytes for
// each stored byte.
bool RatioAllowed(uint64_t raw_size, uint64_t stored_size);

// Threads: const is safe.
class Decoder {
 public:
  // Errors: PACK_CORRUPT for a dictionary that is none. The bytes must outlive the decoder.
  static Result<Decoder> Make(std::span<const ByteView> dictionaries);

  // `base`: the raw bytes of the base's block that the row names, for kZstdAfterBase. Requires:
  // tables have checked the row. Errors: PACK_CORRUPT, PACK_NEEDS_NEWER, PACK_LIMIT; without block.
  Result<Bytes> Decode(const BlockRow& row, ByteView stored, ByteView base) const;

 private:
  std::vector<std::shared_ptr<const void>> dictionaries_;  // ZSTD_DDict
};

}  // namespace kiln::pack
