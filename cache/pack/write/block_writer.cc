// SPDX-License-Identifier: MIT
#include "cache/pack/write/block_writer.h"

#include "compiler/base/hash/checksum.h"

namespace kiln::pack {

Result<uint32_t> BlockWriter::Add(ByteView raw, const BlockPrefix& prefix, uint32_t symbol_bytes,
                                  Raw stored_raw) {
  BlockRow row{.offset = spool_.size(),
               .raw_size = static_cast<uint32_t>(raw.size()),
               .codec = prefix.codec,
               .prefix = prefix.block,
               .symbol_bytes = symbol_bytes};
  // A block is stored as it is if compression does not make it smaller, or so much smaller that
  // readers would refuse the ratio (spec/cache 10.6). Where the caller forbids that, because
  // encoded modules need their prefix's table of symbols, the row keeps the prefix.
  const Bytes compressed = compressor_.Compress(raw, prefix.bytes);
  ByteView stored = compressed;
  if (stored_raw == Raw::kAllowed &&
      (compressed.size() >= raw.size() || !RatioAllowed(raw.size(), compressed.size()))) {
    stored = raw;
    row.codec = Codec::kRaw;
    row.prefix = kNone;
  }
  row.stored_size = static_cast<uint32_t>(stored.size());
  row.sum = Checksum64(stored);
  blocks_.push_back(row);
  // Everything that later sections need of the block is computed while it is in memory: it goes to
  // a file next.
  hashes_.push_back({.sha256 = Sha256(stored)});
  data_.Update(stored);
  KILN_TRY_VOID(spool_.Write(stored));
  return static_cast<uint32_t>(blocks_.size() - 1);
}

}  // namespace kiln::pack
