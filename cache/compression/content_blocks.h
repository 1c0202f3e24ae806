// SPDX-License-Identifier: MIT
// Content that is put together and resembles each other is compressed together: modules of one
// program repeat each other nearly word for word, and a frame of its own for each of them repeats
// that, too. See spec/cache 5.3, 6.3
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/compression/dictionary.h"
#include "cache/module_codec.h"
#include "cache/store.h"

namespace kiln::cache {

// Raw bytes of a block; more of them make it smaller, and a read of one content longer.
inline constexpr uint64_t kBlockBytes = uint64_t{192} << 10;
// A larger content is put alone: what it repeats it finds in itself.
inline constexpr uint64_t kMostInBlock = uint64_t{64} << 10;
// Fewer are put alone, each with a dictionary: they come from an edit.
inline constexpr size_t kFewestInBlock = 4;
// What a reader takes for a block: no block that was written is as large.
inline constexpr uint64_t kMostBlockBytes = uint64_t{1} << 20;

// The items in their order, compressed: content in blocks where there is enough of a kind, else
// each alone; rows as they are. Without dictionaries no block and no content uses one. The same
// items and dictionaries give the same blocks.
std::vector<Item> InBlocks(std::span<const Item> items, DictionarySource* dictionaries);

// Where a content lies in the raw bytes of its block, as Item::at says it: an offset; or, of a
// module that has symbols of the block in the place of ids (module_codec.h), the complement of one.
inline bool IsPlaceOfModule(uint64_t place) { return place >> 63 != 0; }

struct ContentBlock {
  Blob stored;                   // its sum is the id of what is stored
  std::vector<uint64_t> places;  // of the contents
};

// A block of these contents, one behind the other. Not compressed if that would save less than a
// tenth. `dictionary` may be null.
//
// Modules that do not repeat each other word for word, because one constant more gave every later
// id another number, are written with symbols: the block begins with a table of them, and each
// module is u32 size, then so many bytes. Costs twice what zstd does, and is a seventh of the size.
ContentBlock BlockOf(std::span<const ByteView> contents, const Dictionary* dictionary);

// A content of `size` bytes, copied out of the raw bytes of its block. `symbols`: those that the
// block begins with, null if it does not. Nothing if the content is not there.
std::optional<Blob> ContentIn(ByteView raw, const SymbolTable* symbols, uint64_t place,
                              uint64_t size);

}  // namespace kiln::cache
