// SPDX-License-Identifier: MIT
// A flat array of rows that is indexed by its own id type. Rows are only added; a row never moves
// to another id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "compiler/base/check.h"

namespace kiln {

template <class IdT, class Row>
class Table {
 public:
  IdT Add(Row row) {
    KILN_CHECK(rows_.size() < IdT::kNone);
    rows_.push_back(std::move(row));
    return IdT{static_cast<uint32_t>(rows_.size() - 1)};
  }

  // Requires: id.value < size(). References are invalidated by Add.
  Row& operator[](IdT id) {
    KILN_DCHECK(id.value < rows_.size(), "id {} of {} rows", id, rows_.size());
    return rows_[id.value];
  }
  const Row& operator[](IdT id) const {
    KILN_DCHECK(id.value < rows_.size(), "id {} of {} rows", id, rows_.size());
    return rows_[id.value];
  }

  bool Contains(IdT id) const { return id.value < rows_.size(); }
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  bool empty() const { return rows_.empty(); }
  std::span<const Row> rows() const { return rows_; }
  std::span<Row> rows() { return rows_; }

  void Clear() { rows_.clear(); }
  void Reserve(size_t count) { rows_.reserve(count); }

 private:
  std::vector<Row> rows_;
};

}  // namespace kiln
