// SPDX-License-Identifier: MIT
// How stored blobs are compressed and, bounded, decompressed again. Input is hostile: a stored blob
// may have been damaged or come from elsewhere. See spec/cache 5.3, 6.6, 7.3.
#pragma once

#include <optional>

#include "cache/compression/dictionary.h"
#include "cache/store.h"

namespace kiln::cache {

// Level 3, kept if it saves at least a tenth; the blob itself otherwise, or if it is encoded
// already. The same bytes give the same blob on every thread.
Blob Compress(const Blob& raw);
// The same with what content of its kind has in common.
Blob Compress(const Blob& raw, const Dictionary& dictionary);

// The raw bytes of a blob. Allocates raw_size bytes, after checking that it is at most
// kMaxValueBytes and at most kMaxRatio times what is stored.
// Errors: kCorrupt if the bytes are no valid encoding of exactly raw_size bytes; kUnimplemented for
// kZstdDictionary without its dictionary.
Result<Blob> Decompress(const Blob& stored, const Dictionary* dictionary = nullptr);

// The number of the dictionary that a frame says it was made with.
std::optional<uint32_t> DictionaryInFrame(ByteView frame);

// The size that a frame of unknown size says it decompresses to; nothing if it says none. It is as
// hostile as the rest: Decompress checks it.
std::optional<uint64_t> SizeInFrame(ByteView frame);

// Honest data reaches such ratios only when it is nearly empty, so small blobs are exempt.
inline constexpr uint64_t kMaxRatio = 100;
inline constexpr uint64_t kRatioFreeBytes = uint64_t{1} << 20;

}  // namespace kiln::cache
