// SPDX-License-Identifier: MIT
// Rows by their hash. Hashes of honest packs are evenly spread, so that one pass over their first
// bits leaves a row or two to sort in each bucket; hashes that somebody chose cost a sort.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "compiler/base/digest.h"

namespace kiln::pack {

// Indices of the rows, ascending by what `hash` gives of a row.
template <class Row, class HashOf>
std::vector<uint32_t> OrderByHash(const std::vector<Row>& rows, const HashOf& hash) {
  const int bits = std::min<int>(std::bit_width(rows.size()), 24);
  const auto bucket = [&](const Row& row) {
    const Hash128& h = hash(row);
    const uint32_t first = uint32_t{h.bytes[0]} << 24 | uint32_t{h.bytes[1]} << 16 |
                           uint32_t{h.bytes[2]} << 8 | uint32_t{h.bytes[3]};
    return bits == 0 ? 0 : first >> (32 - bits);
  };
  std::vector<uint32_t> ends((size_t{1} << bits) + 1);
  for (const Row& row : rows) {
    ++ends[bucket(row) + 1];
  }
  for (size_t i = 1; i < ends.size(); ++i) {
    ends[i] += ends[i - 1];
  }
  std::vector<uint32_t> order(rows.size());
  std::vector<uint32_t> next(ends.begin(), ends.end() - 1);
  for (uint32_t i = 0; i < rows.size(); ++i) {
    order[next[bucket(rows[i])]++] = i;
  }
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    if (ends[i + 1] - ends[i] > 1) {
      std::sort(order.begin() + ends[i], order.begin() + ends[i + 1],
                [&](uint32_t a, uint32_t b) { return hash(rows[a]) < hash(rows[b]); });
    }
  }
  return order;
}

}  // namespace kiln::pack
