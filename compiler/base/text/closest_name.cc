// SPDX-License-Identifier: MIT
#include "compiler/base/text/closest_name.h"

#include <algorithm>

#include "compiler/base/text/edit_distance.h"

namespace kiln {
namespace {

// One letter is near everything, so words of one letter are near nothing; so are words too long for
// a bounded cost. How many edits may lie between a word and what was meant: a third of it, and two
// at least from four letters on.
size_t MostEdits(size_t size) {
  if (size > ClosestName::kLongest || size < 2) {
    return 0;
  }
  return size < 4 ? 1 : std::max<size_t>(2, size / 3);
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool DiffersInCaseOnly(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, Lower, Lower);
}

}  // namespace

ClosestName::ClosestName(std::string_view word) : word_(word), most_(MostEdits(word.size())) {}

// Cost: the product of both lengths where the lengths are near, else nothing.
void ClosestName::Offer(std::string_view name) {
  const size_t longer = std::max(word_.size(), name.size());
  const size_t shorter = std::min(word_.size(), name.size());
  // The difference in length is a lower bound of the distance: most offers end here, before the
  // quadratic part.
  if (longer > kLongest || longer - shorter > most_ || name == word_) {
    return;
  }
  // Whoever offers very many names stops when this gets large: each comparison costs the product of
  // both lengths.
  ++compared_;
  const bool case_only = DiffersInCaseOnly(word_, name);
  // A difference in case counts as one edit, however many letters it touches.
  const size_t distance = case_only ? 1 : EditDistance(word_, name);
  const bool near = case_only || (distance <= most_ && distance < longer);
  // Strictly less, so that of equal ones the first offered stays.
  if (near && (best_.empty() || distance < least_)) {
    least_ = distance;
    best_ = name;
  }
}

}  // namespace kiln
