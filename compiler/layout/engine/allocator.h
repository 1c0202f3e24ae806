// SPDX-License-Identifier: MIT
// Who owns which numbers: per space and kind the runs in use, and the spaces that are owned whole.
// The four operations are all that an assignment policy has. See spec/layout 7.1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/flat_map.h"

namespace kiln::layout {

// Independent numberings. The first five are what resources are bound by.
enum class Kind : uint8_t { kB, kT, kU, kS, kSlot, kSpace, kPush, kSpec, kAttachment };
inline constexpr uint32_t kKindCount = 9;
inline constexpr uint32_t kBoundKindCount = 5;

// Counts are natural numbers, unbounded or unknown; sums and products saturate, unknown absorbs.
inline constexpr uint64_t kUnbounded = uint64_t{1} << 62;
inline constexpr uint64_t kUnknown = kUnbounded + 1;
uint64_t AddCounts(uint64_t a, uint64_t b);
uint64_t MultiplyCounts(uint64_t a, uint64_t b);

// Numbers [first, first + count); up to the last number if count is kUnbounded.
struct Run {
  uint64_t first = 0;
  uint64_t count = 1;
  uint64_t end() const;
  friend bool operator==(const Run&, const Run&) = default;
};
inline constexpr uint64_t kEndOfNumbers = uint64_t{1} << 32;

// The numbers of one table that are free, as gaps in ascending order.
class FreeNumbers {
 public:
  FreeNumbers() : gaps_{{.first = 0, .count = kEndOfNumbers}} {}
  void Take(Run run);  // idempotent
  // The lowest start of a free run of this length, which is then taken.
  std::optional<uint64_t> FirstFit(uint64_t count);

 private:
  std::vector<Run> gaps_;
};

// Who owns a run; a number of the caller's.
using Owner = uint32_t;

class Allocator {
 public:
  enum class Aliasing : uint8_t { kForbidden, kAllowed };

  struct Conflict {
    Owner other = 0;
    bool whole_space = false;  // one of the two owns the whole space
    uint64_t first = 0;        // lowest number both want
  };

  // Takes the run, whatever the outcome is, so that one error does not cause others. Runs of one
  // owner never conflict.
  std::optional<Conflict> Claim(uint32_t space, Kind kind, Run run, Owner owner,
                                Aliasing aliasing = Aliasing::kForbidden);
  // Lowest start whose whole run is free, which `owner` then owns; nothing if there is none.
  std::optional<uint64_t> FirstFit(uint32_t space, Kind kind, uint64_t count, Owner owner);
  // Who stands in the way when nothing is free.
  std::optional<Owner> OwnerIn(uint32_t space, Kind kind) const;

  // Spaces that another owner has, or has numbers in, stay as they are.
  std::optional<Conflict> ClaimSpaces(Run spaces, Owner owner);
  std::optional<uint64_t> FirstFitSpaces(uint64_t count, Owner owner);
  // The space takes part from now on: no run of whole spaces is put there.
  void UseSpace(uint32_t space);
  std::optional<Owner> WholeOwnerOf(uint32_t space) const;
  // The lowest space that nobody owns whole.
  uint32_t LowestUnowned() const;

 private:
  struct OwnedRun {
    Run run;
    Owner owner = 0;
    bool may_alias = false;
  };
  struct Table {
    FreeNumbers free;
    std::vector<OwnedRun> owned;  // by first number
    uint64_t longest = 0;         // of the owned runs
  };
  Table& TableOf(uint32_t space, Kind kind);
  const Table* FindTable(uint32_t space, Kind kind) const;

  // The owned spaces from the first that does not end before `space`.
  std::vector<OwnedRun>::const_iterator BehindOrAt(uint64_t space) const;

  FlatMap<uint64_t, Table> tables_;
  std::vector<OwnedRun> spaces_;  // owned whole, ascending, disjoint
  FreeNumbers free_spaces_;
  // The first claim in a space, for conflicts with owners of whole spaces.
  FlatMap<uint32_t, Owner> first_owner_;
};

}  // namespace kiln::layout
