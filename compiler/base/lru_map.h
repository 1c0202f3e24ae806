// SPDX-License-Identifier: MIT
// Key to value in the order of their use, with what each of them costs: what a cache in memory is
// made of. The owner decides when it is too large and drops the oldest.
//
// A hit touches the slot of the key, its row and three links of eight bytes; no row is moved.
//
// Threads: those of its owner, one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"

namespace kiln {

// Key needs == with whatever is looked up, and Hash takes both.
template <class Key, class Value, class Hash = FlatHash>
class LruMap {
 public:
  // Null if it is not there; else it is the latest now. Pointers are invalid after Add.
  template <class Wanted>
  Value* Find(const Wanted& key) {
    const uint32_t row = RowOf(key);
    if (row == kNone) {
      return nullptr;
    }
    Unlink(row);
    LinkAsLatest(row);
    return &rows_[row]->value;
  }

  // Null if it is not there. Changes no order.
  template <class Wanted>
  const Value* Peek(const Wanted& key) const {
    const uint32_t row = RowOf(key);
    return row == kNone ? nullptr : &rows_[row]->value;
  }

  // The value becomes the latest. Requires: the key is not there.
  Value& Add(Key key, Value value, uint64_t cost) {
    uint32_t row = free_;
    if (row == kNone) {
      row = static_cast<uint32_t>(rows_.size());
      rows_.emplace_back();
      links_.emplace_back();
    } else {
      free_ = links_[row].older;
    }
    const uint64_t hash = Hash{}(key);
    const uint32_t placed = index_.FindOrAdd(
        hash, [&](uint32_t other) { return rows_[other]->key == key; }, [&] { return row; });
    KILN_CHECK(placed == row, "a key is added twice");
    rows_[row].emplace(std::move(key), std::move(value), cost);
    LinkAsLatest(row);
    cost_ += cost;
    return rows_[row]->value;
  }

  template <class Wanted>
  bool Erase(const Wanted& key) {
    const uint32_t row = RowOf(key);
    if (row != kNone) {
      Drop(row);
    }
    return row != kNone;
  }

  // Requires: it is not empty.
  void DropOldest() {
    KILN_CHECK(oldest_ != kNone);
    Drop(oldest_);
  }

  void Clear() { *this = LruMap(); }
  bool empty() const { return size() == 0; }
  size_t size() const { return index_.size(); }
  uint64_t cost() const { return cost_; }  // of all

 private:
  static constexpr uint32_t kNone = InternIndex::kFree;
  struct Row {
    Row(Key of_key, Value of_value, uint64_t of_cost)
        : key(std::move(of_key)), value(std::move(of_value)), cost(of_cost) {}
    Key key;
    Value value;
    uint64_t cost;
  };
  struct Link {
    uint32_t newer = kNone;
    uint32_t older = kNone;  // of a free row: the next free one
  };

  template <class Wanted>
  uint32_t RowOf(const Wanted& key) const {
    return index_.Find(Hash{}(key), [&](uint32_t row) { return rows_[row]->key == key; });
  }

  void Drop(uint32_t row) {
    cost_ -= rows_[row]->cost;
    index_.Erase(Hash{}(rows_[row]->key), row);
    rows_[row].reset();
    Unlink(row);
    links_[row].older = free_;
    free_ = row;
  }

  void Unlink(uint32_t row) {
    const Link link = links_[row];
    (link.newer == kNone ? latest_ : links_[link.newer].older) = link.older;
    (link.older == kNone ? oldest_ : links_[link.older].newer) = link.newer;
  }

  void LinkAsLatest(uint32_t row) {
    links_[row] = {.newer = kNone, .older = latest_};
    (latest_ == kNone ? oldest_ : links_[latest_].newer) = row;
    latest_ = row;
  }

  std::vector<std::optional<Row>> rows_;
  std::vector<Link> links_;  // of the same rows
  InternIndex index_;
  uint32_t latest_ = kNone;
  uint32_t oldest_ = kNone;
  uint32_t free_ = kNone;
  uint64_t cost_ = 0;
};

}  // namespace kiln
