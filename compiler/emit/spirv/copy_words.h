// SPDX-License-Identifier: MIT
// Words are copied and own ids get their base in one pass, eight words at a time: up to seven words
// behind the end are read and written, too.
#pragma once

#include <cstdint>

namespace kiln::spirv {

// Readable words behind every section, and writable ones behind every copy.
inline constexpr uint32_t kCopySlack = 7;

// `own` is all ones beside a word that is an own id, else zero.
using CopyWords = void (*)(uint32_t* out, const uint32_t* words, const uint32_t* own,
                           uint32_t count, uint32_t base);

// For long copies, by the widest vectors of the processor.
CopyWords LongCopy();

// For a few words.
inline void CopyFew(uint32_t* out, const uint32_t* words, const uint32_t* own, uint32_t count,
                    uint32_t base) {
  using Quad [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = uint32_t;
  const Quad bases = {base, base, base, base};
  const auto at = [](const uint32_t* from) { return *reinterpret_cast<const Quad*>(from); };
  for (uint32_t* const end = out + count; out < end; out += 8, words += 8, own += 8) {
    *reinterpret_cast<Quad*>(out) = at(words) + (at(own) & bases);
    *reinterpret_cast<Quad*>(out + 4) = at(words + 4) + (at(own + 4) & bases);
  }
}

}  // namespace kiln::spirv
