// SPDX-License-Identifier: MIT
// The points of a batch in columns. There may be millions, so each takes its options and one
// number; what few of them have is in a table of its own.
#include "server/compile/rows/point_rows.h"

namespace kiln::compile {

// Few points are warm or name targets, and those come first, so the table of special rows ends with
// the last of them.
void PointRows::Add(const BatchPoint& point) {
  if (point.warm || !point.targets.empty()) {
    special_bytes_ +=
        (size() + 1 - specials_.size()) * sizeof(Special) + point.targets.size() * sizeof(uint32_t);
    specials_.resize(size());
    specials_.push_back({.targets = point.targets, .warm = point.warm});
  }
  options_.Add(point.options);
  served_.push_back(point.served);
}

BatchPoint PointRows::At(size_t row) const {
  const bool special = row < specials_.size();
  return {.options = options_.At(row),
          .served = served_[row],
          .targets = special ? specials_[row].targets : std::vector<uint32_t>(),
          .warm = special && specials_[row].warm};
}

// How many of `targets` the point is for.
size_t PointRows::TargetsOf(size_t row, size_t targets) const {
  const bool some = row < specials_.size() && !specials_[row].targets.empty();
  return some ? specials_[row].targets.size() : targets;
}

uint64_t PointRows::bytes() const {
  return options_.bytes() + served_.size() * sizeof(uint64_t) + special_bytes_;
}

void PointRows::Shrink() {
  options_.Shrink();
  served_.shrink_to_fit();
}

}  // namespace kiln::compile
