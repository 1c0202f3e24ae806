// SPDX-License-Identifier: MIT
// Raw blocks -> compressed blocks, one after the other. See spec/cache 10.4, 10.9
#pragma once

#include <cstdint>
#include <vector>

#include "cache/pack/compression.h"
#include "cache/pack/format.h"
#include "compiler/base/files/new_file.h"
#include "compiler/base/sha256.h"

namespace kiln::pack {

// What a block is compressed after.
struct BlockPrefix {
  Codec codec = Codec::kZstd;  // kZstd: nothing
  uint32_t block = kNone;
  ByteView bytes = {};
};

// Whether a block that does not become smaller may be stored raw, without its prefix. Modules need
// the table of symbols that the prefix has.
enum class Raw : uint8_t { kAllowed, kNever };

// One thread. Requires: the spool outlives the writer.
class BlockWriter {
 public:
  BlockWriter(int level, NewFile& spool) : compressor_(level), spool_(spool) {}

  // The number of the block. `symbol_bytes`: of the table of symbols at its begin.
  // Errors: those of the spool.
  Result<uint32_t> Add(ByteView raw, const BlockPrefix& prefix, uint32_t symbol_bytes,
                       Raw stored_raw);

  std::vector<BlockRow> TakeBlocks() { return std::move(blocks_); }
  const std::vector<HashRow>& hashes() const { return hashes_; }
  Hash128 data_id() const { return data_.Finish().id; }

 private:
  Compressor compressor_;
  NewFile& spool_;
  std::vector<BlockRow> blocks_;
  std::vector<HashRow> hashes_;
  Hasher data_;
};

}  // namespace kiln::pack
