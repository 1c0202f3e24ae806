// SPDX-License-Identifier: MIT
// What the current block already knows about places: the pointer to a place and the value that was
// last loaded from or stored to it. Forgotten at every label and at the edges of a region.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/base/flat_map.h"
#include "compiler/base/push.h"
#include "compiler/emit/spirv/code_object.h"

namespace kiln::spirv {

// Most blocks know few places, which are looked through; of many, an index knows where each is, and
// lists know which values there are to forget.
class PlaceCache {
 public:
  struct Entry {
    Ref root{};
    spv::StorageClass storage = spv::StorageClass::Max;
    bool writable = false;
    bool listed = false;  // in both lists of values that may be known
    uint32_t key = 0;     // of the root and the steps: equal places have equal ones
    uint32_t first_step = 0;
    uint32_t step_count = 0;
    Ref pointer{};  // invalid: not made yet; without steps it is the root
    Ref value{};    // invalid: unknown
  };

  // The entry of a place; made if it is new. Valid until the next call.
  Entry& At(Ref root, std::span<const Ref> steps, spv::StorageClass storage, bool writable) {
    const uint32_t row = Find({.root = root,
                               .storage = storage,
                               .writable = writable,
                               .key = static_cast<uint32_t>(HashOf(root, steps))},
                              steps);
    if (entries_.size() > kFew) {
      List(row);
    }
    return entries_[row];
  }

  // A part of `root` was written: no value of it is known any more.
  void Written(Ref root) {
    if (entries_.size() <= kFew) {
      for (Entry& entry : entries_) {
        if (entry.root == root) {
          entry.value = {};
        }
      }
    } else if (std::vector<uint32_t>* rows = of_root_.Find(root)) {
      Forget(*rows);
    }
  }
  // A function was called: whatever is visible outside this function may have been written.
  void Called() {
    if (entries_.size() <= kFew) {
      for (Entry& entry : entries_) {
        if (IsShared(entry)) {
          entry.value = {};
        }
      }
    } else {
      Forget(shared_);
    }
  }
  void Clear() {
    if (entries_.size() > kFew) {
      index_.Clear();
      of_root_.Clear();
      shared_.clear();
    }
    entries_.clear();
    steps_.clear();
  }

 private:
  static constexpr size_t kFew = 24;

  struct RootHash {
    uint64_t operator()(Ref root) const {
      return Mix64(root.own() ? root.number() : root.symbol().value | uint64_t{1} << 32);
    }
  };

  static bool IsShared(const Entry& entry) {
    return entry.writable && entry.storage != spv::StorageClass::Function;
  }

  // The row of a place; `place` without its steps is added if it is new.
  uint32_t Find(const Entry& place, std::span<const Ref> steps) {
    if (entries_.size() > kFew) {
      return index_.FindOrAdd(
          HashOf(place.root, steps),
          [&](uint32_t row) { return Equal(entries_[row], place.root, steps); },
          [&] { return Add(place, steps); });
    }
    for (uint32_t row = 0; row < entries_.size(); ++row) {
      if (entries_[row].key == place.key && Equal(entries_[row], place.root, steps)) {
        return row;
      }
    }
    const uint32_t added = Add(place, steps);
    for (uint32_t row = 0; entries_.size() > kFew && row <= added; ++row) {
      const Entry& entry = entries_[row];
      index_.FindOrAdd(
          HashOf(entry.root, StepsOf(entry)), [](uint32_t) { return false; },
          [row] { return row; });
      List(row);
    }
    return added;
  }

  uint32_t Add(Entry place, std::span<const Ref> steps) {
    place.first_step = static_cast<uint32_t>(steps_.size());
    place.step_count = static_cast<uint32_t>(steps.size());
    Push(entries_, place);
    for (const Ref step : steps) {
      Push(steps_, step);
    }
    return static_cast<uint32_t>(entries_.size() - 1);
  }

  void List(uint32_t row) {
    Entry& entry = entries_[row];
    if (!std::exchange(entry.listed, true)) {
      of_root_[entry.root].push_back(row);
      if (IsShared(entry)) {
        shared_.push_back(row);
      }
    }
  }
  // Each listed value is forgotten once; a row may still stand in the other list.
  void Forget(std::vector<uint32_t>& rows) {
    for (const uint32_t row : rows) {
      entries_[row].value = {};
      entries_[row].listed = false;
    }
    rows.clear();
  }

  std::span<const Ref> StepsOf(const Entry& entry) const {
    return std::span(steps_).subspan(entry.first_step, entry.step_count);
  }
  static uint64_t HashOf(Ref root, std::span<const Ref> steps) {
    uint64_t hash = RootHash{}(root);
    for (const Ref step : steps) {
      hash = Mix64(hash + RootHash{}(step));
    }
    return hash;
  }
  bool Equal(const Entry& entry, Ref root, std::span<const Ref> steps) const {
    return entry.root == root && std::ranges::equal(StepsOf(entry), steps);
  }

  std::vector<Entry> entries_;
  std::vector<Ref> steps_;
  // Only of more than kFew entries:
  InternIndex index_;
  FlatMap<Ref, std::vector<uint32_t>, RootHash> of_root_;  // rows whose value may be known
  std::vector<uint32_t> shared_;                           // the same, visible outside
};

}  // namespace kiln::spirv
