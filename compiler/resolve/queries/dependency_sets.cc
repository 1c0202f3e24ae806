// SPDX-License-Identifier: MIT
#include "compiler/resolve/queries/dependency_sets.h"

#include <algorithm>
#include <utility>

#include "compiler/base/threads/stop.h"

namespace kiln::resolve {
namespace {

// Estimates with what maps and indices need, for the limit of memory.
constexpr uint64_t kSetBytes = 32;   // of a set, beside its parts
constexpr uint64_t kPairBytes = 48;  // of what is remembered of two sets

// Sixty-four members at a time: a part is a word of a bit set with its place.
uint64_t AddToHash(uint64_t hash, uint32_t place, uint64_t members) {
  return Mix64(Mix64(hash ^ place) ^ members);
}

}  // namespace

// Numbers begin at one, because zero is the empty set, which has no row.
std::span<const DependencySets::Part> DependencySets::PartsOf(DependencySet set) const {
  if (set == kReadNothing) {
    return {};
  }
  // Ends are enough: each set begins where the one before it ends.
  const size_t begin = set == 1 ? 0 : ends_[set - 2];
  return std::span(parts_).subspan(begin, ends_[set - 1] - begin);
}

// Equal sets are one number, so comparing and remembering sets costs nothing.
DependencySet DependencySets::Interned(std::span<const Part> parts) {
  if (parts.empty()) {
    return kReadNothing;
  }
  uint64_t hash = parts.size();
  for (const Part& part : parts) {
    hash = AddToHash(hash, part.place, part.members);
  }
  // Compared in full, since a hash of 64 bits only says where to look.
  const uint32_t number = index_.FindOrAdd(
      hash, [&](uint32_t i) { return std::ranges::equal(PartsOf(i + 1), parts); },
      [&] {
        const uint64_t bytes = kSetBytes + parts.size_bytes();
        ChargeMemory(bytes);
        bytes_ += bytes;
        parts_.insert(parts_.end(), parts.begin(), parts.end());
        ends_.push_back(static_cast<uint32_t>(parts_.size()));
        return static_cast<uint32_t>(ends_.size() - 1);
      });
  return number + 1;
}

// The union of two sets is remembered, as the same two meet again and again on the way up.
DependencySet DependencySets::UnitedWide(DependencySet a, DependencySet b) {
  // The smaller number first, as a union does not depend on the order.
  const uint64_t key = std::min(a, b) << 32 | std::max(a, b);
  if (const DependencySet* known = united_.Find(key); known != nullptr) {
    return *known;
  }
  // One buffer for all unions, so that finding an old set allocates nothing.
  scratch_.clear();
  // Both are sorted by place, so one walk over them merges.
  const std::span<const Part> more = PartsOf(b);
  auto next = more.begin();
  for (const Part& part : PartsOf(a)) {
    for (; next != more.end() && next->place < part.place; ++next) {
      scratch_.push_back(*next);
    }
    scratch_.push_back(part);
    if (next != more.end() && next->place == part.place) {
      scratch_.back().members |= next++->members;
    }
  }
  scratch_.insert(scratch_.end(), next, more.end());
  const DependencySet united = Interned(scratch_);
  ChargeMemory(kPairBytes);
  bytes_ += kPairBytes;
  united_.Insert(key, united);
  return united;
}

// Parts are sorted by place, so this is a search by halves.
bool DependencySets::HasWide(DependencySet set, size_t member) const {
  const Part wanted = Part::Of(member);
  const std::span<const Part> parts = PartsOf(set);
  const auto found = std::ranges::lower_bound(parts, wanted.place, {}, &Part::place);
  return found != parts.end() && found->place == wanted.place &&
         (found->members & wanted.members) != 0;
}

DependencySet DependencySets::OfWide(const Bitset& members) {
  const std::span<const uint64_t> words = members.words();
  scratch_.clear();
  // In order of place, as all sets are: equal sets then have equal parts.
  for (uint32_t place = 0; place < words.size(); ++place) {
    if (words[place] != 0) {
      scratch_.push_back({.place = place, .members = words[place]});
    }
  }
  return Interned(scratch_);
}

void DependencySets::AddWideTo(Bitset& result, DependencySet set) const {
  for (const Part& part : PartsOf(set)) {
    AddTo(result, part);
  }
}

}  // namespace kiln::resolve
