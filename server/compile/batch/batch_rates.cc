// SPDX-License-Identifier: MIT
// Speeds of a batch as moving averages, and what is left of its time from them. The weight corrects
// the averages at the beginning, when they have not been moving for long.
#include "server/compile/batch/batch_rates.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace kiln::compile {
namespace {

// Ten seconds: a change of pace shows soon, a single slow variant does not.
constexpr double kHalfLife = 10;  // seconds
constexpr Duration kUntilEta = std::chrono::seconds(2);
constexpr double kLongestMs = 365.0 * 24 * 3600 * 1000;

double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void BatchRates::Add(Duration at, uint64_t results, uint64_t variants) {
  const double seconds = Seconds(at - last_);
  if (seconds <= 0) {
    return;
  }
  const double kept = std::exp2(-seconds / kHalfLife);
  const auto add = [&](double& sum, uint64_t now, uint64_t before) {
    const double speed = static_cast<double>(now - std::min(now, before)) / seconds;
    sum = sum * kept + speed * (1 - kept);
  };
  add(results_, results, last_results_);
  add(variants_, variants, last_variants_);
  weight_ = weight_ * kept + (1 - kept);
  last_ = at;
  last_results_ = results;
  last_variants_ = variants;
}

// Milliseconds, and 0 if it cannot be told. The results that are left are estimated from how many
// variants a result has served up to now.
uint64_t BatchRates::EtaMs(uint64_t variants_total) const {
  const uint64_t left = variants_total - std::min(variants_total, last_variants_);
  if (last_ < kUntilEta || left == 0 || last_variants_ == 0 || results() <= 0) {
    return 0;
  }
  const double projected = static_cast<double>(left) * static_cast<double>(last_results_) /
                           static_cast<double>(last_variants_);
  return static_cast<uint64_t>(std::min(projected / results() * 1000, kLongestMs)) + 1;
}

}  // namespace kiln::compile
