// SPDX-License-Identifier: MIT
// What the current block already knows about places: the pointer to a place and the value that was
// last loaded from or stored to it. Forgotten at every label and at the edges of a segment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/emit/spirv/piece.h"

namespace kiln::spirv {

class PlaceCache {
 public:
  struct Entry {
    Ref root{};
    spv::StorageClass storage = spv::StorageClass::Max;
    bool writable = false;
    uint32_t first_step = 0;
    uint32_t step_count = 0;
    Ref pointer{};  // invalid: not made yet; without steps it is the root
    Ref value{};    // invalid: unknown
  };

  // The entry of a place; made if it is new. Valid until the next call.
  Entry& At(Ref root, std::span<const Ref> steps) {
    for (Entry& entry : entries_) {
      if (entry.root == root && Equal(entry, steps)) {
        return entry;
      }
    }
    Entry& made = entries_.emplace_back();
    made.root = root;
    made.first_step = static_cast<uint32_t>(steps_.size());
    made.step_count = static_cast<uint32_t>(steps.size());
    steps_.insert(steps_.end(), steps.begin(), steps.end());
    return made;
  }

  // A part of `root` was written: no value of it is known any more.
  void Written(Ref root) {
    for (Entry& entry : entries_) {
      if (entry.root == root) {
        entry.value = {};
      }
    }
  }
  // A function was called: whatever is visible outside this function may have been written.
  void Called() {
    for (Entry& entry : entries_) {
      if (entry.writable && entry.storage != spv::StorageClass::Function) {
        entry.value = {};
      }
    }
  }
  void Clear() {
    entries_.clear();
    steps_.clear();
  }

 private:
  bool Equal(const Entry& entry, std::span<const Ref> steps) const {
    if (entry.step_count != steps.size()) {
      return false;
    }
    for (uint32_t i = 0; i < entry.step_count; ++i) {
      if (!(steps_[entry.first_step + i] == steps[i])) {
        return false;
      }
    }
    return true;
  }

  std::vector<Entry> entries_;
  std::vector<Ref> steps_;
};

}  // namespace kiln::spirv
