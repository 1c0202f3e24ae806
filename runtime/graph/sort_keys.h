// SPDX-License-Identifier: MIT
// Indices in ascending order of 64-bit keys, ties in the order they came: counting sort by bytes,
// of which those that all keys share cost nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kiln::graph {

struct KeyedIndex {
  uint64_t key = 0;
  uint32_t index = 0;
};

inline void SortByKey(std::vector<KeyedIndex>& rows, std::vector<KeyedIndex>& spare) {
  constexpr size_t kDigits = 8;
  std::array<std::array<uint32_t, 256>, kDigits> counts{};
  for (const KeyedIndex& row : rows) {
    for (size_t digit = 0; digit < kDigits; ++digit) {
      ++counts[digit][row.key >> (8 * digit) & 0xFF];
    }
  }
  spare.resize(rows.size());
  for (size_t digit = 0; digit < kDigits; ++digit) {
    const size_t shift = 8 * digit;
    if (rows.empty() || counts[digit][rows.front().key >> shift & 0xFF] == rows.size()) {
      continue;
    }
    uint32_t next = 0;
    for (uint32_t& count : counts[digit]) {
      next += std::exchange(count, next);
    }
    for (const KeyedIndex& row : rows) {
      spare[counts[digit][row.key >> shift & 0xFF]++] = row;
    }
    std::swap(rows, spare);
  }
}

}  // namespace kiln::graph
