// SPDX-License-Identifier: MIT
#include "cache/compression/zstd_parts.h"

#include <algorithm>
#include <string>

#include <zstd.h>

#include "compiler/base/threads/slow_step.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache {

namespace {

constexpr size_t kBlock = ZSTD_BLOCKSIZE_MAX;  // up to a tenth of a second at the highest level

}  // namespace

Bytes RoomInParts(size_t size) {
  Bytes room;
  // Reserved at once and touched in parts: zeroing many megabytes takes long enough for a caller to
  // leave meanwhile.
  room.reserve(size);
  InParts(size, [&](size_t offset, size_t part) { room.resize(offset + part); });
  return room;
}

std::optional<size_t> CompressInParts(ZSTD_CCtx_s& context, std::span<std::byte> out,
                                      ByteView raw) {
  // The frame then states its size, which readers need before they allocate.
  (void)ZSTD_CCtx_setPledgedSrcSize(&context, raw.size());
  ZSTD_outBuffer to{.dst = out.data(), .size = out.size(), .pos = 0};
  bool fits = true;
  const auto part = [&](size_t offset, size_t size) {
    if (offset != 0) {
      CheckStopBetweenSlowSteps();
    }
    ZSTD_inBuffer from{.src = raw.data() + offset, .size = size, .pos = 0};
    const bool last = offset + size == raw.size();
    size_t left = 1;
    // The last part goes on until zstd has written the end of the frame. A full output buffer means
    // that the frame does not fit, which callers use as "not worth it".
    while (fits && (last ? left != 0 : from.pos != from.size)) {
      left = ZSTD_compressStream2(&context, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
      fits = ZSTD_isError(left) == 0 && (to.pos != to.size || left == 0);
    }
  };
  InParts(raw.size(), part, kBlock);
  return fits ? std::optional(to.pos) : std::nullopt;
}

Result<size_t> DecompressInParts(ZSTD_DCtx_s& context, std::span<std::byte> out, ByteView stored) {
  const auto damaged = [](const char* what) {
    return Error{.code = ErrorCode::kCorrupt, .context = std::string("zstd: ") + what};
  };
  ZSTD_inBuffer from{.src = stored.data(), .size = stored.size(), .pos = 0};
  ZSTD_outBuffer to{.dst = out.data(), .size = 0, .pos = 0};
  for (;;) {
    CheckStopBetweenSlowSteps();
    // The output is handed to zstd in pieces, so this loop comes round and can be stopped.
    to.size = std::min(out.size(), to.pos + kPartBytes);
    const size_t read = from.pos;
    const size_t written = to.pos;
    const size_t left = ZSTD_decompressStream(&context, &to, &from);
    if (ZSTD_isError(left) != 0) {
      return damaged(ZSTD_getErrorName(left));
    }
    if (left == 0 && from.pos == from.size) {
      return to.pos;
    }
    // No progress: the input ended early, or more output would come than there is room for.
    if (from.pos == read && to.pos == written) {
      return damaged("the frame is cut off, or longer than it says");
    }
  }
}

}  // namespace kiln::cache
