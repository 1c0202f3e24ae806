// SPDX-License-Identifier: MIT
// Which names the scopes around a place of a function declare. The parser asks, to know what a
// declaration mentions of the module: declarations come in any order, so they are sorted by that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"

namespace kiln::wgsl::front::syntax {

class NameScopes {
 public:
  void Open() { opened_.push_back(names_.size()); }
  void Close() {
    while (names_.size() > opened_.back()) {
      --*counts_.Find(names_.back());
      names_.pop_back();
    }
    opened_.pop_back();
  }
  // Of the innermost scope.
  void Declare(std::string_view name) {
    names_.push_back(name);
    ++*counts_.Insert(name, 0).first;
  }
  bool Has(std::string_view name) const {
    const uint32_t* count = counts_.Find(name);
    return count != nullptr && *count > 0;
  }

 private:
  std::vector<std::string_view> names_;  // of all open scopes
  std::vector<size_t> opened_;           // where each begins
  FlatMap<std::string_view, uint32_t> counts_;
};

}  // namespace kiln::wgsl::front::syntax
