// SPDX-License-Identifier: MIT
// Where a span of a module stands in its file; asked only for full debug information. Given by
// whoever has the sources.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/ir/ids.h"

namespace kiln::spirv {

class SourceLines {
 public:
  virtual ~SourceLines() = default;
  // Path of a file of a module, as the request names it; equal for every variant.
  virtual std::string_view FileOf(uint32_t module, uint32_t file) const = 0;
  struct Position {
    uint32_t file = 0;    // of the module; 0: its root
    uint32_t line = 0;    // from 1; 0: unknown
    uint32_t column = 0;  // from 1
    friend bool operator==(const Position&, const Position&) = default;
  };
  virtual Position At(uint32_t module, ir::SpanId span) const = 0;
};

}  // namespace kiln::spirv
