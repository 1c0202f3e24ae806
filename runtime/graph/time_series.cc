// SPDX-License-Identifier: MIT
#include "runtime/graph/time_series.h"

#include <algorithm>
#include <numeric>

namespace kiln::graph {

TimeSummary TimeSeries::Summarize() const {
  if (count_ == 0) {
    return {};
  }
  // Sorted in a copy, because values_ is a ring whose order is that of time.
  // Unused places of the ring lie behind `count_`, so sorting the first part is enough.
  std::array<float, kFrames> sorted = values_;
  const auto end = sorted.begin() + static_cast<ptrdiff_t>(count_);
  std::sort(sorted.begin(), end);
  // The nearest rank below, which is a value that was really measured.
  const auto at = [&](size_t percent) { return double{sorted[(count_ - 1) * percent / 100]}; };
  // The mean is of the same values as the ranks: those of the last frames, not of all.
  return {.mean = std::accumulate(sorted.begin(), end, 0.0) / static_cast<double>(count_),
          .p50 = at(50),
          .p99 = at(99),
          .worst = sorted[count_ - 1],
          .frames = count_};
}

}  // namespace kiln::graph
