// SPDX-License-Identifier: MIT
// The points of one program as flat rows: a point is made of its row when somebody builds it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/resolve/values/options.h"
#include "server/compile/rows/option_rows.h"

namespace kiln::compile {

struct BatchPoint {
  std::vector<resolve::OptionSetting> options;
  uint64_t served = 1;            // variants that agree on all that matters
  std::vector<uint32_t> targets;  // indexes; empty: all
  bool warm = false;              // an explicit variant that is wanted at start-up

  bool IsFor(size_t target) const {
    return targets.empty() || std::ranges::find(targets, target) != targets.end();
  }
};

class PointRows {
 public:
  void Add(const BatchPoint& point);
  BatchPoint At(size_t row) const;

  size_t size() const { return served_.size(); }
  uint64_t ServedBy(size_t row) const { return served_[row]; }
  void SetServed(size_t row, uint64_t variants) { served_[row] = variants; }
  // For how many of `targets` targets the point is built.
  size_t TargetsOf(size_t row, size_t targets) const;
  // Roughly the memory of all.
  uint64_t bytes() const;
  // No other point is added for now.
  void Shrink();

 private:
  // What few points have: targets of their own, or a wish to be warm.
  struct Special {
    std::vector<uint32_t> targets;
    bool warm = false;
  };

  OptionRows options_;
  std::vector<uint64_t> served_;
  std::vector<Special> specials_;  // of the first points
  uint64_t special_bytes_ = 0;
};

}  // namespace kiln::compile
