// SPDX-License-Identifier: MIT
#include "cache/pack/compression.h"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/format.h>
#include <zstd.h>

#include "cache/compression/codec.h"
#include "cache/compression/zstd_context.h"
#include "cache/compression/zstd_parts.h"
#include "cache/pack/errors.h"
#include "compiler/base/check.h"

namespace kiln::pack {
namespace {

constexpr int kLeastWindowLog = 10;
constexpr int kMostWindowLog = 27;
constexpr int kSlowLevel = 16;  // a block of 128 KiB takes some 50 ms from here on
constexpr uint64_t kLongBytes = uint64_t{8} << 20;  // from here on repetitions are looked for afar

}  // namespace

// What a reader allocates is bounded by what is stored. Small sizes are free, since the bound
// exists against a kilobyte that claims to be a gigabyte.
bool RatioAllowed(uint64_t raw_size, uint64_t stored_size) {
  return raw_size <= cache::kRatioFreeBytes || raw_size / cache::kMaxRatio <= stored_size;
}

bool IndexAllowed(uint64_t raw_size, uint64_t stored_size, uint64_t prefix_size) {
  return raw_size <= kMaxIndexBytes &&
         // Of a delta's section the base may give most bytes, so these do not count towards the
         // ratio.
         RatioAllowed(raw_size - std::min(raw_size, 2 * prefix_size), stored_size);
}

Compressor::Compressor(int level) : level_(level), context_(ZSTD_createCCtx()) {
  KILN_CHECK(context_ != nullptr);
}

Compressor::~Compressor() { ZSTD_freeCCtx(context_); }

Bytes Compressor::Compress(ByteView raw, ByteView prefix) {
  // The context is used again for each block, which saves its allocation. Every parameter is set
  // anew, so a block does not depend on the one before: equal inputs give equal bytes.
  (void)ZSTD_CCtx_reset(context_, ZSTD_reset_session_and_parameters);
  (void)ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level_);
  (void)ZSTD_CCtx_setParameter(context_, ZSTD_c_contentSizeFlag, 0);  // the rows have it
  const uint64_t reach = raw.size() + prefix.size();
  (void)ZSTD_CCtx_setParameter(
      context_, ZSTD_c_windowLog,
      // The window must reach over the prefix and the bytes, and not further, since a reader needs
      // that much memory.
      std::clamp(static_cast<int>(std::bit_width(reach)), kLeastWindowLog, kMostWindowLog));
  if (reach > kLongBytes) {
    (void)ZSTD_CCtx_setParameter(context_, ZSTD_c_enableLongDistanceMatching, 1);
  }
  if (!prefix.empty()) {
    (void)ZSTD_CCtx_refPrefix(context_, prefix.data(), prefix.size());
  }
  Bytes stored = cache::RoomInParts(ZSTD_compressBound(raw.size()));
  // What takes long is compressed in parts, between which the caller may be stopped.
  const bool slow = level_ >= kSlowLevel && raw.size() > ZSTD_BLOCKSIZE_MAX;
  if (slow || raw.size() >= cache::kLongFrame) {
    const std::optional<size_t> size = cache::CompressInParts(*context_, stored, raw);
    KILN_CHECK(size.has_value(), "{} bytes", raw.size());
    stored.resize(*size);
    return stored;
  }
  const size_t size =
      ZSTD_compress2(context_, stored.data(), stored.size(), raw.data(), raw.size());
  KILN_CHECK(ZSTD_isError(size) == 0, "{}", ZSTD_getErrorName(size));
  stored.resize(size);
  return stored;
}

Result<Bytes> Decompress(Codec codec, ByteView stored, uint64_t raw_size, ByteView prefix) {
  if (codec > Codec::kZstdAfterBase) {
    return PackError(kNeedsNewer, fmt::format("codec {}", static_cast<uint32_t>(codec)));
  }
  if (codec == Codec::kRaw) {
    if (stored.size() != raw_size) {
      return PackError(kCorrupt, "raw bytes of another size than the index says");
    }
    return Bytes(stored.begin(), stored.end());
  }
  // One context for each thread, because making one costs more than decompressing a small block.
  ZSTD_DCtx* const context = cache::DecompressorOfThread();
  if (context == nullptr) {
    return PackError(kLimit, "no memory to decompress with");
  }
  if (!prefix.empty()) {
    (void)ZSTD_DCtx_refPrefix(context, prefix.data(), prefix.size());
  }
  Bytes raw = cache::RoomInParts(raw_size);
  const size_t size =
      ZSTD_decompressDCtx(context, raw.data(), raw.size(), stored.data(), stored.size());
  if (size != raw.size()) {  // an error is a number larger than any size
    return PackError(kCorrupt, fmt::format("does not decompress to {} bytes", raw_size));
  }
  return raw;
}

}  // namespace kiln::pack
