// SPDX-License-Identifier: MIT
// Sets of options that answers rest on, as words: cheap to copy, to compare and to unite. Up to 64
// members a word has a bit for each. Beyond that it is the number of a set that is kept once,
// however many answers rest on it, so memory grows with the distinct sets that were met and not
// with options times answers.
//
// Numbers are those of one DependencySets; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/base/flat_map.h"

namespace kiln::resolve {

using DependencySet = uint64_t;
inline constexpr DependencySet kReadNothing = 0;

class DependencySets {
 public:
  // Members are less than `size`.
  explicit DependencySets(size_t size)
      : small_(size <= 64), only_(small_ ? 0 : size, kReadNothing) {}

  DependencySet Only(size_t member) {
    if (small_) {
      return uint64_t{1} << member;
    }
    DependencySet& known = only_[member];
    return known != kReadNothing ? known : (known = Interned(Part::Of(member)));
  }

  DependencySet United(DependencySet a, DependencySet b) {
    if (small_) {
      return a | b;
    }
    if (a == b || b == kReadNothing) {
      return a;
    }
    return a == kReadNothing ? b : UnitedWide(a, b);
  }

  bool Has(DependencySet set, size_t member) const {
    return small_ ? (set >> member & 1) != 0 : HasWide(set, member);
  }

  // As many members at most. Requires: no more than `size`.
  DependencySet Of(const Bitset& members) { return small_ ? members.words()[0] : OfWide(members); }
  // Adds the members that `result` may have.
  void AddTo(Bitset& result, DependencySet set) const {
    if (small_) {
      AddTo(result, Part{.place = 0, .members = set});
    } else {
      AddWideTo(result, set);
    }
  }

  // Of what grows with the sets.
  uint64_t bytes_used() const { return bytes_; }

 private:
  // 64 members that follow each other, one of them at least.
  struct Part {
    uint32_t place = 0;  // of the members: 64 * place and on
    uint64_t members = 0;

    static Part Of(size_t member) {
      return {.place = static_cast<uint32_t>(member / 64), .members = uint64_t{1} << member % 64};
    }
    friend bool operator==(const Part&, const Part&) = default;
  };

  static void AddTo(Bitset& result, const Part& part) {
    const size_t left = result.size() - std::min(result.size(), size_t{part.place} * 64);
    const uint64_t fits = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    result.Unite(part.place, part.members & fits);
  }

  bool HasWide(DependencySet set, size_t member) const;
  DependencySet OfWide(const Bitset& members);
  void AddWideTo(Bitset& result, DependencySet set) const;
  std::span<const Part> PartsOf(DependencySet set) const;
  DependencySet Interned(const Part& part) { return Interned(std::span(&part, 1)); }
  DependencySet Interned(std::span<const Part> parts);
  DependencySet UnitedWide(DependencySet a, DependencySet b);

  const bool small_;
  std::vector<DependencySet> only_;  // by member; none yet: nothing
  std::vector<Part> parts_;          // of all sets, by ascending place in each
  std::vector<uint32_t> ends_;       // in parts_; set 1 is the first
  InternIndex index_;
  FlatMap<uint64_t, DependencySet> united_;  // smaller number << 32 | larger one
  std::vector<Part> scratch_;
  uint64_t bytes_ = 0;
};

}  // namespace kiln::resolve
