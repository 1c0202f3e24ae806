// SPDX-License-Identifier: MIT
// What names mean at a place of a function: locals and constants of the scopes around it, then
// declarations of the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/front/wgsl/check/tree.h"

namespace kiln::wgsl::front {

// A row of the checked module: `value` is what a mention of the name is.
struct Meaning {
  Expr value;
  uint32_t token = 0;  // of the declaration
};

class Scopes {
 public:
  void Open() { opened_.push_back(undo_.size()); }
  void Close() {
    for (; undo_.size() > opened_.back(); undo_.pop_back()) {
      *index_.Find(undo_.back().first) = undo_.back().second;
    }
    opened_.pop_back();
  }
  const Meaning* Find(std::string_view name) const {
    const uint32_t* row = index_.Find(name);
    return row == nullptr || *row == kNoRow ? nullptr : &rows_[*row];
  }
  // False if the innermost scope has the name; the first one stays, unless it
  // has failed.
  bool Declare(std::string_view name, const Meaning& meaning) {
    uint32_t* row = index_.Insert(name, kNoRow).first;
    if (*row != kNoRow && depths_[*row] == opened_.size()) {
      if (rows_[*row].value.kind != ExprKind::kFailed) {
        return false;
      }
      rows_[*row] = meaning;
      return true;
    }
    undo_.emplace_back(name, *row);
    *row = static_cast<uint32_t>(rows_.size());
    rows_.push_back(meaning);
    depths_.push_back(opened_.size());
    return true;
  }

 private:
  std::vector<Meaning> rows_;
  std::vector<size_t> depths_;                               // of rows: scopes around it
  std::vector<std::pair<std::string_view, uint32_t>> undo_;  // what a name meant before
  std::vector<size_t> opened_;
  FlatMap<std::string_view, uint32_t> index_;
};

}  // namespace kiln::wgsl::front
