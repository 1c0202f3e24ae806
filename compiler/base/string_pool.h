// SPDX-License-Identifier: MIT
// Interned strings: equal text, equal id. Ids count from 0 in the order of first mention; views
// stay valid as long as the pool. One thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/base/arena.h"
#include "compiler/base/digest.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/id.h"
#include "compiler/base/table.h"

namespace kiln {

template <class IdT>
class StringPool {
 public:
  IdT Intern(std::string_view text) {
    return IdT{index_.FindOrAdd(
        Hash64(text), [&](uint32_t i) { return texts_[IdT{i}] == text; },
        [&] { return texts_.Add(arena_.Copy(text)).value; })};
  }

  // The id of a known text, or an invalid id.
  IdT Find(std::string_view text) const {
    return IdT{index_.Find(Hash64(text), [&](uint32_t i) { return texts_[IdT{i}] == text; })};
  }

  std::string_view operator[](IdT id) const { return texts_[id]; }
  uint32_t size() const { return texts_.size(); }

 private:
  static_assert(InternIndex::kFree == IdT::kNone);

  Arena arena_;
  Table<IdT, std::string_view> texts_;
  InternIndex index_;
};

}  // namespace kiln
