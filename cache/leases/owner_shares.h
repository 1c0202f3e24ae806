// SPDX-License-Identifier: MIT
// How something bounded is divided between those whose things it is for: pins, batches, packs. The
// owner of the daemon may have all that is free; the others have three quarters of it together, and
// one of them half. So nobody locks out the owner, and no one of them the others.
// See spec/daemon 11.4
//
// Threads: const is safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kiln::cache {

class OwnerShares {
 public:
  // `most`: of bytes, or of things.
  explicit OwnerShares(uint64_t most) : most_(most) {}

  // Owners are named as in cache/leases/actor.h; no name is the owner's.
  void Add(std::string_view owner, uint64_t amount);
  // Requires: he has so much.
  void Remove(std::string_view owner, uint64_t amount);

  uint64_t most() const { return most_; }
  uint64_t all() const { return all_; }
  uint64_t Of(std::string_view owner) const;
  // What one that is not the owner may have.
  uint64_t MostOfOne() const { return most_ / 2; }

  // Neither is there too much, nor has he more than he may.
  bool Fits(std::string_view owner) const;
  // Where it does not fit for `owner`: whether `other` has some of what is too much.
  bool StandsInTheWay(std::string_view other, std::string_view owner) const;

 private:
  bool OneHasTooMuch(std::string_view owner) const;
  bool OthersHaveTooMuch(std::string_view owner) const;

  const uint64_t most_;
  uint64_t all_ = 0;
  std::map<std::string, uint64_t, std::less<>> of_;
};

struct OwnedThing {
  std::string_view owner;
  int64_t used = 0;  // a time: the latest stays longest
  bool may_go = true;
};

// What should go first where it does not fit for `owner`: of those who stand in his way, whoever
// has most gives up what was used least lately. Null: nothing may go.
std::optional<size_t> NextToGo(const OwnerShares& shares, std::span<const OwnedThing> things,
                               std::string_view owner);

}  // namespace kiln::cache
