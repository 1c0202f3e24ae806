// SPDX-License-Identifier: MIT
// zstd with a prefix, for blocks and for index sections, and bounded back again. Input of the way
// back is hostile. See spec/cache 10.4, 10.6, 10.9
#pragma once

#include <cstdint>

#include "cache/pack/format.h"
#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

struct ZSTD_CCtx_s;

namespace kiln::pack {

// What is larger than kRatioFreeBytes of the cache's codec may have at most kMaxRatio raw bytes for
// each stored byte. A block is at most kMaxBlobBytes and is made one at a time, so that this, and
// not the number of blocks, bounds what a reader allocates.
bool RatioAllowed(uint64_t raw_size, uint64_t stored_size);

// The same for an index section, which may also repeat the prefix, whose bytes the reader has
// anyway, twice. At most kMaxIndexBytes.
bool IndexAllowed(uint64_t raw_size, uint64_t stored_size, uint64_t prefix_size);

// One thread.
class Compressor {
 public:
  explicit Compressor(int level);
  ~Compressor();

  Bytes Compress(ByteView raw, ByteView prefix);

 private:
  const int level_;
  ZSTD_CCtx_s* const context_;
};

// Allocates raw_size bytes. Requires: the caller has bounded raw_size. Threads: from any; each has
// a context of its own (cache/compression/zstd_context.h). Errors: PACK_CORRUPT if the bytes do not
// decompress to exactly so many; PACK_NEEDS_NEWER for a codec of tomorrow; PACK_LIMIT without
// memory.
Result<Bytes> Decompress(Codec codec, ByteView stored, uint64_t raw_size, ByteView prefix);

}  // namespace kiln::pack
