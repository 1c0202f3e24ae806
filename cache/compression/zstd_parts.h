// SPDX-License-Identifier: MIT
// Long zstd frames in parts, between which whoever waits for them may leave
// (compiler/base/threads/stop). Short ones need no parts: zstd's own functions are faster for them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace kiln::cache {

// From here on decompressing takes longer than anybody should have to wait.
inline constexpr size_t kLongFrame = size_t{16} << 20;  // raw bytes

// So many zeros to write to. The first touch of a page costs more than what is put there, so room
// for a long frame is made in parts, too.
Bytes RoomInParts(size_t size);

// One frame, with what the context was told. The size; nullopt if it does not fit.
std::optional<size_t> CompressInParts(ZSTD_CCtx_s& context, std::span<std::byte> out, ByteView raw);

// All frames that `stored` consists of. The size. Errors: kCorrupt with zstd's words, or if they
// are cut off or do not fit.
Result<size_t> DecompressInParts(ZSTD_DCtx_s& context, std::span<std::byte> out, ByteView stored);

}  // namespace kiln::cache
