// SPDX-License-Identifier: MIT
// Copying sections into a module: words with a base added to own ids, then imports patched one by
// one. Inline, because a module is little else.
#pragma once

#include <cstdint>

#include "compiler/emit/spirv/code_object_store.h"
#include "compiler/emit/spirv/copy_words.h"

namespace kiln::spirv {

inline constexpr uint32_t kFewWords = 24;  // a long copy is a call

// Writes words and imports of a section, or of a part of it that begins at `position`, and returns
// where they end. What follows in the output is written later, so the copy may be rounded up by
// kCopySlack words. `numbers` are by SymbolId.
inline uint32_t* CopySection(const CodeObjectStore& store, CopyWords long_copy,
                             const uint32_t* numbers, uint32_t* start, Range<uint32_t> words,
                             Range<SymbolRelocation> imports, uint32_t base, uint32_t position) {
  const uint32_t* const from = store.words() + words.first;
  const uint32_t* const own = store.own_masks() + words.first;
  if (words.count > kFewWords) {
    long_copy(start, from, own, words.count, base);
  } else {
    CopyFew(start, from, own, words.count, base);
  }
  const SymbolRelocation* const first = store.imports() + imports.first;
#pragma GCC unroll 4
  for (const SymbolRelocation* i = first; i != first + imports.count; ++i) {
    start[i->position - position] = numbers[i->symbol.value];
  }
  return start + words.count;
}

}  // namespace kiln::spirv
