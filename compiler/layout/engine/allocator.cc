// SPDX-License-Identifier: MIT
#include "compiler/layout/engine/allocator.h"

#include <algorithm>

namespace kiln::layout {

// A sum that is too large is unbounded and not an error: the caller compares counts with its limit,
// and saturation keeps the order of that comparison.
uint64_t AddCounts(uint64_t a, uint64_t b) {
  if (a == kUnknown || b == kUnknown) {
    return kUnknown;
  }
  return a == kUnbounded || b == kUnbounded || a + b >= kUnbounded ? kUnbounded : a + b;
}

uint64_t MultiplyCounts(uint64_t a, uint64_t b) {
  if (a == kUnknown || b == kUnknown) {
    return kUnknown;
  }
  // Nothing of an unbounded number is nothing. That goes before saturation.
  if (a == 0 || b == 0) {
    return 0;
  }
  // The division finds out whether the product would be too large.
  return a >= kUnbounded || b >= kUnbounded || a > (kUnbounded - 1) / b ? kUnbounded : a * b;
}

// Saturates at the end of all numbers.
uint64_t Run::end() const {
  return count >= kEndOfNumbers || first + count > kEndOfNumbers ? kEndOfNumbers : first + count;
}

// Gaps are sorted and disjoint, so the ones that a run touches are neighbours: the first is cut,
// those in between go, the last is cut. A run that begins and ends inside of one gap splits it.
// O(log gaps) to find the place, and a move of what lies behind it.
void FreeNumbers::Take(Run run) {
  const uint64_t begin = run.first;
  const uint64_t end = run.end();
  // The first gap that ends behind the start of the run.
  auto gap = std::partition_point(gaps_.begin(), gaps_.end(),
                                  [&](const Run& g) { return g.first + g.count <= begin; });
  if (gap == gaps_.end() || gap->first >= end) {
    return;
  }
  if (gap->first < begin) {
    const uint64_t gap_end = gap->first + gap->count;
    gap->count = begin - gap->first;
    if (gap_end > end) {
      gaps_.insert(gap + 1, {.first = end, .count = gap_end - end});
      return;
    }
    // The first gap keeps its front, so what has to go begins behind it.
    ++gap;
  }
  auto last = gap;
  while (last != gaps_.end() && last->first + last->count <= end) {
    ++last;
  }
  if (last != gaps_.end() && last->first < end) {
    last->count -= end - last->first;
    last->first = end;
  }
  gaps_.erase(gap, last);
}

// From the lowest gap on: first fit is what people expect of bindings (the next free number), and
// what the specification says. Programs have few gaps, so they are searched in order.
std::optional<uint64_t> FreeNumbers::FirstFit(uint64_t count) {
  for (size_t i = 0; i < gaps_.size(); ++i) {
    Run& gap = gaps_[i];
    if (gap.count < count) {
      continue;
    }
    // The front of the gap is taken, so the rest stays one gap.
    const uint64_t first = gap.first;
    gap.first += count;
    gap.count -= count;
    if (gap.count == 0) {
      gaps_.erase(gaps_.begin() + static_cast<ptrdiff_t>(i));
    }
    return first;
  }
  return std::nullopt;
}

// One table for each numbering of each space, made when it is first asked for.
Allocator::Table& Allocator::TableOf(uint32_t space, Kind kind) {
  // The kind fits into a byte, and the space takes the rest of the key.
  return tables_[uint64_t{space} << 8 | static_cast<uint64_t>(kind)];
}

const Allocator::Table* Allocator::FindTable(uint32_t space, Kind kind) const {
  return tables_.Find(uint64_t{space} << 8 | static_cast<uint64_t>(kind));
}

// Claims never fail: a conflict is an error of the author's, which is reported while numbering goes
// on. Runs are sorted by their beginnings, not by their ends, so runs that reach into this one may
// lie anywhere before it. The longest run so far bounds how far back they can begin, which makes
// the search short unless somebody claimed an unbounded run.
std::optional<Allocator::Conflict> Allocator::Claim(uint32_t space, Kind kind, Run run, Owner owner,
                                                    Aliasing aliasing) {
  std::optional<Conflict> conflict;
  // A number in a space that somebody owns whole conflicts, whatever it is.
  if (const std::optional<Owner> whole = WholeOwnerOf(space); whole && *whole != owner) {
    conflict = {.other = *whole, .whole_space = true, .first = space};
  }
  const bool may_alias = aliasing == Aliasing::kAllowed;
  Table& table = TableOf(space, kind);
  const auto by_first = [](const OwnedRun& owned, uint64_t first) {
    return owned.run.first < first;
  };
  // From the first run that begins behind this one, backwards.
  auto at = std::lower_bound(table.owned.begin(), table.owned.end(), run.end(), by_first);
  for (auto other = at; !conflict && other != table.owned.begin();) {
    --other;
    if (other->run.first + table.longest <= run.first) {
      break;
    }
    if (other->run.end() > run.first && other->owner != owner && !(may_alias && other->may_alias)) {
      conflict = {.other = other->owner, .first = std::max(run.first, other->run.first)};
    }
  }
  at = std::lower_bound(table.owned.begin(), table.owned.end(), run.first, by_first);
  table.owned.insert(at, {.run = run, .owner = owner, .may_alias = may_alias});
  table.longest = std::max(table.longest, run.end() - run.first);
  // The run is taken even if it conflicts, so that each later parameter is measured against what
  // was really written.
  table.free.Take(run);
  UseSpace(space);
  // The first owner is enough: it is asked for only to name somebody when the whole space is
  // claimed.
  first_owner_.Insert(space, owner);
  return conflict;
}

std::optional<uint64_t> Allocator::FirstFit(uint32_t space, Kind kind, uint64_t count,
                                            Owner owner) {
  if (const std::optional<Owner> whole = WholeOwnerOf(space); whole && *whole != owner) {
    return std::nullopt;
  }
  return TableOf(space, kind).free.FirstFit(count);
}

// Whoever owns the last run is as good an answer as any: the message wants one name.
std::optional<Owner> Allocator::OwnerIn(uint32_t space, Kind kind) const {
  if (const std::optional<Owner> whole = WholeOwnerOf(space)) {
    return whole;
  }
  const Table* table = FindTable(space, kind);
  if (table == nullptr || table->owned.empty()) {
    return std::nullopt;
  }
  return table->owned.back().owner;
}

// A space that is owned whole must have no other user, in either order of claiming: other whole
// spaces are in `spaces_`, single numbers in `first_owner_`.
std::optional<Allocator::Conflict> Allocator::ClaimSpaces(Run spaces, Owner owner) {
  const auto at = BehindOrAt(spaces.first);
  // Neighbours decide, as owned spaces are disjoint.
  if (at != spaces_.end() && at->run.first < spaces.end() && at->owner != owner) {
    return Conflict{
        .other = at->owner, .whole_space = true, .first = std::max(at->run.first, spaces.first)};
  }
  // Counts are at most 2^20, so that this ends soon.
  for (uint64_t space = spaces.first; space < spaces.end(); ++space) {
    const Owner* other = first_owner_.Find(static_cast<uint32_t>(space));
    if (other != nullptr && *other != owner) {
      return Conflict{.other = *other, .whole_space = true, .first = space};
    }
  }
  spaces_.insert(at, {.run = spaces, .owner = owner});
  free_spaces_.Take(spaces);
  return std::nullopt;
}

std::optional<uint64_t> Allocator::FirstFitSpaces(uint64_t count, Owner owner) {
  const std::optional<uint64_t> first = free_spaces_.FirstFit(count);
  if (first) {
    spaces_.insert(BehindOrAt(*first), {.run = {.first = *first, .count = count}, .owner = owner});
  }
  return first;
}

void Allocator::UseSpace(uint32_t space) { free_spaces_.Take({.first = space, .count = 1}); }

// The owned spaces are disjoint and ascend, so the ends ascend as well and the search can be one by
// halves.
std::vector<Allocator::OwnedRun>::const_iterator Allocator::BehindOrAt(uint64_t space) const {
  return std::partition_point(spaces_.begin(), spaces_.end(),
                              [&](const OwnedRun& owned) { return owned.run.end() <= space; });
}

std::optional<Owner> Allocator::WholeOwnerOf(uint32_t space) const {
  const auto owned = BehindOrAt(space);
  if (owned == spaces_.end() || owned->run.first > space) {
    return std::nullopt;
  }
  return owned->owner;
}

// Owned spaces ascend: the first hole in them is the answer.
uint32_t Allocator::LowestUnowned() const {
  uint64_t lowest = 0;
  for (const OwnedRun& owned : spaces_) {
    if (owned.run.first > lowest) {
      break;
    }
    lowest = owned.run.end();
  }
  return static_cast<uint32_t>(lowest);
}

}  // namespace kiln::layout
