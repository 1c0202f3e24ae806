// SPDX-License-Identifier: MIT
// zstd frames without dictionary.
#include "cache/codec.h"

#include <utility>

#include <zstd.h>

#include "compiler/base/check.h"

namespace kiln::cache {
namespace {

constexpr int kZstdLevel = 3;
constexpr size_t kSmallest = 64;  // below this a frame's header eats the gain

bool RatioAllowed(uint64_t raw_size, uint64_t stored_size) {
  return raw_size <= kRatioFreeBytes || raw_size / kMaxRatio <= stored_size;
}

Error Damaged(std::string what) {
  return {.code = ErrorCode::kCorrupt, .context = std::move(what)};
}

}  // namespace

Blob Compress(const Blob& raw) {
  if (raw.codec != Codec::kRaw || raw.bytes.size() < kSmallest) {
    return raw;
  }
  const size_t budget = raw.bytes.size() - raw.bytes.size() / 10;
  Bytes out(budget);
  // A result that does not fit into the budget saves too little: that is the only error possible.
  const size_t size =
      ZSTD_compress(out.data(), out.size(), raw.bytes.data(), raw.bytes.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0 || !RatioAllowed(raw.bytes.size(), size)) {
    return raw;
  }
  out.resize(size);
  out.shrink_to_fit();  // the writer's queue is bounded by what it counts
  Blob blob = OwnedBlob(std::move(out));
  blob.codec = Codec::kZstd;
  blob.raw_size = raw.bytes.size();
  blob.sum = raw.sum;
  return blob;
}

std::optional<uint64_t> SizeInFrame(ByteView frame) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR
             ? std::nullopt
             : std::optional<uint64_t>(size);
}

Result<Blob> Decompress(const Blob& stored) {
  if (stored.codec == Codec::kRaw) {
    if (stored.raw_size != stored.bytes.size()) {
      return Damaged("raw blob of another size than it says");
    }
    return stored;
  }
  if (stored.codec != Codec::kZstd) {
    return Error{.code = ErrorCode::kUnimplemented, .context = "codec of a newer kiln"};
  }
  if (stored.raw_size > kMaxValueBytes || !RatioAllowed(stored.raw_size, stored.bytes.size())) {
    return Damaged("blob claims to decompress to " + std::to_string(stored.raw_size) + " bytes");
  }
  Bytes raw(stored.raw_size);
  const size_t size =
      ZSTD_decompress(raw.data(), raw.size(), stored.bytes.data(), stored.bytes.size());
  if (ZSTD_isError(size) != 0) {
    return Damaged(std::string("zstd: ") + ZSTD_getErrorName(size));
  }
  if (size != stored.raw_size) {
    return Damaged("blob decompresses to another size than it says");
  }
  Blob blob = OwnedBlob(std::move(raw));
  blob.sum = stored.sum;
  return blob;
}

}  // namespace kiln::cache
