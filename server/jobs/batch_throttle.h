// SPDX-License-Identifier: MIT
// How many jobs of the batch lane may run at once: what the machine feels comes in, once in a
// while, a number comes out. Halved under pressure, restored step by step. See spec/daemon 5.5, 9.5
//
// Threads: by one at a time.
#pragma once

#include <cstdint>
#include <string_view>

namespace kiln::jobs {

class BatchThrottle {
 public:
  explicit BatchThrottle(uint32_t workers) : workers_(workers), most_(workers) {}

  // Shares of the last ten seconds in which some task waited, from 0 to 1.
  struct PressureSample {
    double cpu = 0;
    double memory = 0;
    double io = 0;
    bool memory_is_tight = false;  // of this process
  };
  // To be called once a second: means over ten seconds follow a change of ours slowly, so the next
  // change comes five looks later at the earliest.
  void Look(const PressureSample& seen);

  uint32_t most() const { return most_; }
  // Why it is less than there are workers: cpu, memory, io; empty if it is not.
  std::string_view slowed_by() const { return slowed_by_; }

 private:
  const uint32_t workers_;
  uint32_t most_;
  uint32_t looks_until_change_ = 0;
  std::string_view slowed_by_;
};

}  // namespace kiln::jobs
