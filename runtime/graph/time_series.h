// SPDX-License-Identifier: MIT
// Times of the last thousand frames, and what people ask of them: mean, median, p99, worst. Adding
// one neither allocates nor sorts. See spec/graph 11
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace kiln::graph {

struct TimeSummary {
  double mean = 0;
  double p50 = 0;
  double p99 = 0;
  double worst = 0;
  size_t frames = 0;
};

class TimeSeries {
 public:
  static constexpr size_t kFrames = 1000;

  void Add(double nanoseconds) {
    values_[next_] = static_cast<float>(nanoseconds);
    next_ = (next_ + 1) % kFrames;
    count_ += count_ < kFrames ? 1 : 0;
  }
  double last() const { return count_ == 0 ? 0.0 : values_[(next_ + kFrames - 1) % kFrames]; }
  TimeSummary Summarize() const;

 private:
  std::array<float, kFrames> values_ = {};
  size_t next_ = 0;
  size_t count_ = 0;
};

using Instant = std::chrono::steady_clock::time_point;

inline Instant Now() { return std::chrono::steady_clock::now(); }
inline double NanosecondsBetween(Instant begin, Instant end) {
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

}  // namespace kiln::graph
