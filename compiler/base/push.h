// SPDX-License-Identifier: MIT
// push_back for loops that run millions of times: growing is a call that is kept out of them, so
// what is inlined is a comparison and a store.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kiln {

template <class T>
[[gnu::noinline, gnu::cold]] void GrowForPush(std::vector<T>& rows) {
  rows.reserve(std::max<size_t>(16, 2 * rows.capacity()));
}

template <class T>
inline void Push(std::vector<T>& rows, const T& row) {
  if (rows.size() == rows.capacity()) [[unlikely]] {
    GrowForPush(rows);
  }
  if (rows.size() == rows.capacity()) {
    __builtin_unreachable();
  }
  rows.push_back(row);
}

}  // namespace kiln
