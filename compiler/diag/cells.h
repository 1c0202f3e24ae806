// SPDX-License-Identifier: MIT
// How a line of source looks on a terminal: tabs are four columns, control characters and
// ill-formed bytes are spelled out, wide characters take two columns and combining ones none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct Cell {
  uint32_t offset = 0;  // of the first byte, within the line
  uint32_t column = 0;  // where it starts, from 0
  uint32_t width = 0;   // columns it takes
  std::string text;     // what to print
};

// One cell per code point, and one of no width at the end of the line.
std::vector<Cell> CellsOf(std::string_view line);

// Column of the cell that holds the byte at offset; the end of the line beyond it.
// Requires: cells come from CellsOf.
uint32_t ColumnAt(const std::vector<Cell>& cells, uint32_t offset);

}  // namespace kiln
