// SPDX-License-Identifier: MIT
// The known word that is nearest to one that is not known: verbs, flags, keys, options, and every
// kind of name of a source. Names are offered one after the other, from wherever they are kept:
//   ClosestName closest("depth_tset");
//   for (const SettingFacts& row : AllSettings()) { closest.Offer(row.name); }
//   closest.best()   // "depth_test"
// A word is near if few edits lie between (one for two or three letters, two for up to eight, then
// a third of its length), a letter that is swapped with its neighbour counting as one, or if only
// the case of letters differs; the word itself is not. Of equally near ones the first that was
// offered wins, so that the answer depends on nothing but the order of offering.
#pragma once

#include <cstddef>
#include <string_view>

namespace kiln {

class ClosestName {
 public:
  // Longer words have no near ones: the cost of an offer is bounded, whatever a source holds.
  static constexpr size_t kLongest = 64;

  // `word` and what is offered outlive the search.
  explicit ClosestName(std::string_view word);

  void Offer(std::string_view name);
  template <class Names>
  ClosestName& OfferAll(const Names& names) {
    for (const auto& name : names) {
      Offer(name);
    }
    return *this;
  }

  std::string_view best() const { return best_; }  // empty if none is near
  size_t compared() const { return compared_; }    // offers that were not refused by their length

 private:
  std::string_view word_;
  size_t most_;  // edits of a near word
  std::string_view best_;
  size_t least_ = 0;  // edits of the best one
  size_t compared_ = 0;
};

}  // namespace kiln
