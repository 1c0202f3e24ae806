// SPDX-License-Identifier: MIT
// Where tokens come from. An origin is a number: a token of a file as it is written, or a row
// that says by which macro or include it came. Contexts form a tree that is only ever added to,
// with causes before their effects, so walking out of one always ends.
#include "compiler/front/hlsl/origins.h"

#include <algorithm>

namespace kiln::hlsl {

// Origins of tokens are of two kinds. A written one is a number in the row of all tokens of all
// files, so its context is that of the file: found by search among the files' first numbers. A
// placed one has a row of its own with the context in it. The highest bit tells them apart.
uint32_t Origins::ContextOf(uint32_t origin) const {
  if ((origin & kPlacedOrigin) != 0) {
    return placed_[origin & ~kPlacedOrigin].context;
  }
  // The file that begins last at or before the origin.
  const auto behind = std::upper_bound(file_begins_.begin(), file_begins_.end(), origin);
  return file_contexts_[static_cast<size_t>(behind - file_begins_.begin()) - 1];
}

// A context has a higher number than the one of its cause. So the lower of two is never inside the
// higher, and leaving the higher one leads to the innermost that both are in.
std::pair<uint32_t, uint32_t> Origins::Meet(uint32_t first, uint32_t last) const {
  uint32_t a = ContextOf(first);
  uint32_t b = ContextOf(last);
  while (a != b) {
    uint32_t& origin = a > b ? first : last;
    uint32_t& context = a > b ? a : b;
    origin = contexts_[context].cause;
    context = ContextOf(origin);
  }
  return {first, last};
}

// What an error about these tokens underlines: from the first to the last in the innermost file
// or macro that both are in (spec/hlsl 4.6).
Span Origins::Cover(uint32_t first, uint32_t last) const {
  const auto [a, b] = Meet(first, last);
  return kiln::Cover(WrittenAt(a), WrittenAt(b));
}

// From a macro to where its outermost use is written. Contexts of files end the walk; it is as
// long as macros are in each other.
uint32_t Origins::InFile(uint32_t origin) const {
  uint32_t context = ContextOf(origin);
  while (contexts_[context].kind == Context::Kind::kMacro) {
    origin = contexts_[context].cause;
    context = ContextOf(origin);
  }
  return origin;
}

}  // namespace kiln::hlsl
