// SPDX-License-Identifier: MIT
// Rows of an index section <-> their columns, which is how they are stored: all values of one field
// side by side, references to other rows as the difference to an earlier row. What is alike lies
// together and most differences are 1, so that zstd leaves little but the ids; and an edit of one
// program leaves the columns of the others as they were, which makes deltas small.
#pragma once

#include <cstdint>
#include <span>

#include "cache/pack/format.h"
#include "compiler/base/bytes.h"

namespace kiln::pack {

// A field of a row. Bytes; `lag` > 0: stored as the difference to the value so many rows earlier,
// for fields of 4 and 8 bytes.
struct Column {
  uint16_t offset = 0;
  uint16_t width = 0;
  uint16_t lag = 0;
};

// Fields in the order in which they are stored.
template <class Row>
std::span<const Column> ColumnsOf();

template <class Row>
Bytes ToColumns(std::span<const Row> rows);

// Bytes of one row when stored.
template <class Row>
uint64_t StoredRowBytes();

// Requires: columns.size() == rows * StoredRowBytes<Row>().
template <class Row>
std::vector<Row> FromColumns(ByteView columns, uint64_t rows);

}  // namespace kiln::pack
