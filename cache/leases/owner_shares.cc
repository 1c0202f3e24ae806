// SPDX-License-Identifier: MIT
// The one way in which what is bounded in all is divided (spec/daemon 11.4): the owner may have
// all, others three quarters of it together, one of them half. `Add` first and `Fits` then: the
// amounts are those after what is asked for.
#include "cache/leases/owner_shares.h"

#include "cache/leases/actor.h"

namespace kiln::cache {
namespace {

bool IsOwner(std::string_view name) { return OwnerName(name) == OwnerName({}); }

}  // namespace

void OwnerShares::Add(std::string_view owner, uint64_t amount) {
  all_ += amount;
  of_[std::string(OwnerName(owner))] += amount;
}

void OwnerShares::Remove(std::string_view owner, uint64_t amount) {
  all_ -= amount;
  of_[std::string(OwnerName(owner))] -= amount;
}

uint64_t OwnerShares::Of(std::string_view owner) const {
  const auto known = of_.find(OwnerName(owner));
  return known == of_.end() ? 0 : known->second;
}

// The owner has no share of his own to exceed.
bool OwnerShares::OneHasTooMuch(std::string_view owner) const {
  return !IsOwner(owner) && Of(owner) > MostOfOne();
}

// A quarter is always free for the owner.
bool OwnerShares::OthersHaveTooMuch(std::string_view owner) const {
  return !IsOwner(owner) && all_ - Of({}) > most_ - most_ / 4;
}

bool OwnerShares::Fits(std::string_view owner) const {
  return all_ <= most_ && !OneHasTooMuch(owner) && !OthersHaveTooMuch(owner);
}

// Whose things must go so that `owner` fits: his own if he alone has too much, those of others if
// they have, else anybody's.
bool OwnerShares::StandsInTheWay(std::string_view other, std::string_view owner) const {
  if (OneHasTooMuch(owner)) {
    return OwnerName(other) == OwnerName(owner);
  }
  return !OthersHaveTooMuch(owner) || !IsOwner(other);
}

// Of those that stand in the way the oldest of whoever has most. Nothing: no room can be made, and
// the caller refuses.
std::optional<size_t> NextToGo(const OwnerShares& shares, std::span<const OwnedThing> things,
                               std::string_view owner) {
  std::optional<size_t> found;
  const auto before = [&](const OwnedThing& a, const OwnedThing& b) {
    const uint64_t has_a = shares.Of(a.owner), has_b = shares.Of(b.owner);
    return has_a != has_b ? has_a > has_b : a.used < b.used;
  };
  for (size_t i = 0; i < things.size(); ++i) {
    const bool may_go = things[i].may_go && shares.StandsInTheWay(things[i].owner, owner);
    if (may_go && (!found.has_value() || before(things[i], things[*found]))) {
      found = i;
    }
  }
  return found;
}

}  // namespace kiln::cache
