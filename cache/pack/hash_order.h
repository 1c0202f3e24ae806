// SPDX-License-Identifier: MIT
// Rows by their hash. Hashes of honest packs are evenly spread, so that one pass over their first
// bits leaves a row or two to sort in each bucket; hashes that somebody chose cost a sort.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/base/digest.h"

namespace kiln::pack {

struct HashOrder {
  std::vector<uint32_t> rows;  // ascending by hash, then by number
  // The first of them that has the hash of the one before it and must not.
  std::optional<uint32_t> twice;
};

// What `hash` gives of a row decides. The rows are read once, from front to back: what is moved
// about and compared are their first four bytes, because a table of some megabytes that is read
// out of order costs a miss of the cache for each row.
// may_follow(a, b): whether b, which stands behind a in the table, may have the same hash.
template <class Row, class HashOf, class MayFollow>
HashOrder OrderByHash(const std::vector<Row>& rows, const HashOf& hash,
                      const MayFollow& may_follow) {
  struct Place {
    uint32_t first = 0;  // bytes of the hash, the most significant in front
    uint32_t row = 0;
  };
  const int bits = std::min<int>(std::bit_width(rows.size()), 24);
  const auto bucket = [&](uint32_t first) { return bits == 0 ? 0 : first >> (32 - bits); };
  std::vector<uint32_t> firsts(rows.size());
  std::vector<uint32_t> ends((size_t{1} << bits) + 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Hash128& of_row = hash(rows[i]);
    uint32_t first = 0;
    for (size_t byte = 0; byte < 4; ++byte) {
      first = first << 8 | of_row.bytes[byte];
    }
    firsts[i] = first;
    ++ends[bucket(first) + 1];
  }
  for (size_t i = 1; i < ends.size(); ++i) {
    ends[i] += ends[i - 1];
  }
  std::vector<Place> places(rows.size());
  std::vector<uint32_t> next(ends.begin(), ends.end() - 1);
  for (uint32_t i = 0; i < rows.size(); ++i) {
    places[next[bucket(firsts[i])]++] = {.first = firsts[i], .row = i};
  }
  const auto before = [&](const Place& a, const Place& b) {
    if (a.first != b.first) {
      return a.first < b.first;
    }
    return std::tie(hash(rows[a.row]), a.row) < std::tie(hash(rows[b.row]), b.row);
  };
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    if (ends[i + 1] - ends[i] > 1) {
      std::sort(places.begin() + ends[i], places.begin() + ends[i + 1], before);
    }
  }
  HashOrder order;
  order.rows.reserve(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const bool same = i != 0 && places[i].first == places[i - 1].first &&
                      hash(rows[places[i].row]) == hash(rows[places[i - 1].row]) &&
                      !may_follow(rows[places[i - 1].row], rows[places[i].row]);
    if (same && !order.twice.has_value()) {
      order.twice = places[i].row;
    }
    order.rows.push_back(places[i].row);
  }
  return order;
}

// Each hash is there once.
template <class Row, class HashOf>
HashOrder OrderByHash(const std::vector<Row>& rows, const HashOf& hash) {
  return OrderByHash(rows, hash, [](const Row&, const Row&) { return false; });
}

}  // namespace kiln::pack
