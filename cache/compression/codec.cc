// SPDX-License-Identifier: MIT
// zstd frames, with and without dictionary.
#include "cache/compression/codec.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "cache/compression/zstd_context.h"
#include "cache/compression/zstd_parts.h"
#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache {
namespace {

// Every put compresses on its way to the store, so the level is a fast one.
constexpr int kZstdLevel = 3;

// The size of the frame; nothing if it does not fit.
std::optional<size_t> CompressPlain(std::span<std::byte> out, ByteView raw) {
  ZSTD_CCtx* const context = CompressorOfThread();
  if (context == nullptr) {
    return std::nullopt;
  }
  // Larger contents are compressed in parts, between which the caller may be stopped.
  if (raw.size() <= kPartBytes) {
    const size_t size =
        ZSTD_compressCCtx(context, out.data(), out.size(), raw.data(), raw.size(), kZstdLevel);
    return ZSTD_isError(size) != 0 ? std::nullopt : std::optional(size);
  }
  (void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kZstdLevel);
  return CompressInParts(*context, out, raw);
}
constexpr size_t kSmallest = 64;  // below this a frame's header eats the gain

// The same bound that reading applies.
bool RatioAllowed(uint64_t raw_size, uint64_t stored_size) {
  return raw_size <= kRatioFreeBytes || raw_size / kMaxRatio <= stored_size;
}

Error Damaged(std::string what) {
  return {.code = ErrorCode::kCorrupt, .context = std::move(what)};
}

// Long frames are decompressed in parts, between which a caller who left is noticed.
Result<size_t> DecompressPlain(std::span<std::byte> out, ByteView frame) {
  ZSTD_DCtx* const context = DecompressorOfThread();
  KILN_CHECK(context != nullptr);
  if (out.size() >= kLongFrame) {
    return DecompressInParts(*context, out, frame);
  }
  const size_t size =
      ZSTD_decompressDCtx(context, out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0) {
    return Damaged(std::string("zstd: ") + ZSTD_getErrorName(size));
  }
  return size;
}

// A frame of the format that readers pass over: magic number, size, bytes without a meaning.
constexpr uint32_t kPassedOver = 0x184D2A50;
constexpr size_t kPassedOverHead = 2 * sizeof(uint32_t);

// What compresses better than readers accept gets a frame behind it that they pass over, until it
// is as large as they want it. If it were stored raw instead, a sender of a few bytes that make
// many equal ones would fill the store with a hundred times as much.
void Lengthen(Bytes& frame, uint64_t raw_size) {
  const uint64_t wanted = raw_size / kMaxRatio;
  const uint64_t missing = wanted - std::min<uint64_t>(wanted, frame.size() + kPassedOverHead);
  AppendLittle(frame, kPassedOver);
  AppendLittle(frame, static_cast<uint32_t>(missing));
  frame.resize(frame.size() + missing);
}

// Room for a frame that saves enough: a larger one does not fit. What blocks and small contents
// need is kept by each thread: memory of that size goes back to the system when it is freed, and
// its pages would be made anew for every block.
class FrameRoom {
 public:
  explicit FrameRoom(const Blob& raw) {
    const size_t size = raw.bytes.size() - raw.bytes.size() / 10;
    if (size > kKept) {
      own_ = RoomInParts(size);
      room_ = own_;
      return;
    }
    thread_local Bytes kept;
    if (kept.size() < size) {
      kept.resize(size);
    }
    room_ = std::span(kept).first(size);
  }
  std::span<std::byte> bytes() const { return room_; }

 private:
  static constexpr size_t kKept = size_t{256} << 10;

  Bytes own_;
  std::span<std::byte> room_;
};

// The form of a frame of `size` bytes at the beginning of `room`: compressed, or raw.
Blob Chosen(const Blob& raw, const FrameRoom& room, std::optional<size_t> size, Codec codec) {
  if (!size.has_value()) {
    return raw;  // no gain
  }
  // Copied: the writer's queue is bounded by what it counts.
  const std::span<const std::byte> frame = room.bytes().first(*size);
  Bytes out(frame.begin(), frame.end());
  if (!RatioAllowed(raw.bytes.size(), *size)) {
    Lengthen(out, raw.bytes.size());
    out.shrink_to_fit();
  }
  Blob blob = OwnedBlob(std::move(out));
  blob.codec = codec;
  blob.raw_size = raw.bytes.size();
  blob.sum = raw.sum;
  return blob;
}

// What is compressed already is taken as it is.
bool WorthTrying(const Blob& raw) {
  return raw.codec == Codec::kRaw && raw.bytes.size() >= kSmallest;
}

}  // namespace

Blob Compress(const Blob& raw) {
  if (!WorthTrying(raw)) {
    return raw;
  }
  const FrameRoom room(raw);
  return Chosen(raw, room, CompressPlain(room.bytes(), raw.bytes), Codec::kZstd);
}

// A dictionary helps small contents that have much in common, such as metadata; it must be known to
// whoever reads (spec/cache 6.3).
Blob Compress(const Blob& raw, const Dictionary& dictionary) {
  if (!WorthTrying(raw)) {
    return raw;
  }
  const FrameRoom room(raw);
  return Chosen(raw, room, dictionary.Compress(room.bytes(), raw.bytes), Codec::kZstdDictionary);
}

std::optional<uint64_t> SizeInFrame(ByteView frame) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR
             ? std::nullopt
             : std::optional<uint64_t>(size);
}

std::optional<uint32_t> DictionaryInFrame(ByteView frame) {
  const unsigned number = ZSTD_getDictID_fromFrame(frame.data(), frame.size());
  return number == 0 ? std::nullopt : std::optional<uint32_t>(number);
}

// Errors: kCorrupt for what cannot be the frame of such a content, kUnimplemented where the
// dictionary is missing. Whether the bytes are right is told by their hash, which the caller
// checks.
Result<Blob> Decompress(const Blob& stored, const Dictionary* dictionary) {
  if (stored.codec == Codec::kRaw) {
    if (stored.raw_size != stored.bytes.size()) {
      return Damaged("raw blob of another size than it says");
    }
    return stored;
  }
  // The store has taken content out of its block before it comes here; what still says block could
  // not be.
  if (stored.codec == Codec::kBlock) {
    return Damaged("the block of the content does not decode");
  }
  if (stored.codec == Codec::kZstdDictionary && dictionary == nullptr) {
    return Error{.code = ErrorCode::kUnimplemented, .context = "compressed with a dictionary"};
  }
  // Before the allocation: the size is what a row of a possibly damaged file says.
  if (stored.raw_size > kMaxValueBytes || !RatioAllowed(stored.raw_size, stored.bytes.size())) {
    return Damaged("blob claims to decompress to " + std::to_string(stored.raw_size) + " bytes");
  }
  Bytes raw = RoomInParts(stored.raw_size);
  KILN_TRY(const size_t size, stored.codec == Codec::kZstdDictionary
                                  ? dictionary->Decompress(raw, stored.bytes)
                                  : DecompressPlain(raw, stored.bytes));
  if (size != stored.raw_size) {
    return Damaged("blob decompresses to another size than it says");
  }
  Blob blob = OwnedBlob(std::move(raw));
  blob.sum = stored.sum;
  return blob;
}

}  // namespace kiln::cache
