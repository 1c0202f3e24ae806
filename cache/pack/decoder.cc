// SPDX-License-Identifier: MIT
#include "cache/pack/decoder.h"

#include <fmt/format.h>
#include <zstd.h>

#include "cache/codec.h"
#include "cache/pack/errors.h"

namespace kiln::pack {
namespace {

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

bool RatioAllowed(uint64_t raw_size, uint64_t stored_size) {
  return raw_size <= cache::kRatioFreeBytes || raw_size / cache::kMaxRatio <= stored_size;
}

Result<Decoder> Decoder::Make(std::span<const ByteView> dictionaries) {
  Decoder decoder;
  for (const ByteView bytes : dictionaries) {
    ZSTD_DDict* dictionary = ZSTD_createDDict(bytes.data(), bytes.size());
    if (dictionary == nullptr) {
      return PackError(kCorrupt, fmt::format("section DICT: dictionary {} is none; fetch or build "
                                             "the pack again",
                                             decoder.dictionaries_.size()));
    }
    decoder.dictionaries_.emplace_back(dictionary, [](ZSTD_DDict* d) { ZSTD_freeDDict(d); });
  }
  return decoder;
}

Result<Bytes> Decoder::Decode(const BlockRow& row, ByteView stored, ByteView base) const {
  if (row.codec != Codec::kRaw && row.codec != Codec::kZstd && row.codec != Codec::kZstdAfterBase) {
    return PackError(kNeedsNewer, fmt::format("codec {}", static_cast<uint32_t>(row.codec)));
  }
  if (row.codec == Codec::kRaw) {
    if (row.stored_size != row.raw_size) {
      return PackError(kCorrupt, "raw bytes of another size than the index says");
    }
    return Bytes(stored.begin(), stored.end());
  }
  if (!RatioAllowed(row.raw_size, row.stored_size)) {
    return PackError(kLimit, fmt::format("{} bytes claim to be {}", row.stored_size, row.raw_size));
  }
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (context == nullptr) {
    return PackError(kLimit, "no memory to decompress with");
  }
  if (row.codec == Codec::kZstdAfterBase) {
    (void)ZSTD_DCtx_refPrefix(context.get(), base.data(), base.size());
  } else if (row.dictionary != kNone) {
    (void)ZSTD_DCtx_refDDict(context.get(),
                             static_cast<const ZSTD_DDict*>(dictionaries_[row.dictionary].get()));
  }
  Bytes raw(row.raw_size);  // bounded: tables have checked it
  const size_t size =
      ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), stored.data(), stored.size());
  if (size != raw.size()) {  // an error is a number larger than any size
    return PackError(kCorrupt, fmt::format("does not decompress to {} bytes", row.raw_size));
  }
  return raw;
}

}  // namespace kiln::pack
