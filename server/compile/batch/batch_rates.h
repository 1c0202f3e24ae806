// SPDX-License-Identifier: MIT
// How fast a batch goes: exponential means with a half-life of 10 s, and from them the time that is
// left. Counts and times -> rates. See spec/daemon 7.3
#pragma once

#include <cstdint>

#include "compiler/base/clock.h"

namespace kiln::compile {

class BatchRates {
 public:
  // So much is done at this time of work. Times do not go backwards.
  void Add(Duration at, uint64_t results, uint64_t variants);

  double results() const { return weight_ == 0 ? 0 : results_ / weight_; }  // per second
  double variants() const { return weight_ == 0 ? 0 : variants_ / weight_; }

  // 0 until 2 s have passed, or if nothing moves. Results that are left are projected from those
  // that the served variants needed.
  uint64_t EtaMs(uint64_t variants_total) const;

 private:
  Duration last_{};
  uint64_t last_results_ = 0, last_variants_ = 0;
  double results_ = 0, variants_ = 0;  // weighted sums
  double weight_ = 0;                  // of what was added: 1 after a while
};

}  // namespace kiln::compile
