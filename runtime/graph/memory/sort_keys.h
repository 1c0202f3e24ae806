// SPDX-License-Identifier: MIT
// Indices in ascending order of 64-bit keys, ties in the order they came: counting sort by bytes;
// those that all keys share are not looked at.
#pragma once

#include <array>
#include <bit>
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
  uint64_t differing = 0;
  for (const KeyedIndex& row : rows) {
    differing |= row.key ^ rows.front().key;
  }
  spare.resize(rows.size());
  for (; differing != 0;) {
    const auto shift = static_cast<size_t>(std::countr_zero(differing)) / 8 * 8;
    differing &= ~(uint64_t{0xFF} << shift);
    std::array<uint32_t, 256> counts{};
    for (const KeyedIndex& row : rows) {
      ++counts[row.key >> shift & 0xFF];
    }
    uint32_t next = 0;
    for (uint32_t& count : counts) {
      next += std::exchange(count, next);
    }
    for (const KeyedIndex& row : rows) {
      spare[counts[row.key >> shift & 0xFF]++] = row;
    }
    std::swap(rows, spare);
  }
}

}  // namespace kiln::graph
