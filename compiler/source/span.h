// SPDX-License-Identifier: MIT
// A half-open byte range of one source file.
#pragma once

#include <cstdint>

namespace kiln {

struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;

  constexpr bool empty() const { return begin >= end; }
  friend bool operator==(const Span&, const Span&) = default;
};

}  // namespace kiln
