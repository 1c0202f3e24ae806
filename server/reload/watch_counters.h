// SPDX-License-Identifier: MIT
// What all watch sessions of a daemon did, ever. Safe from any thread: whoever asks for the numbers
// waits for nobody who works.
#pragma once

#include <atomic>
#include <cstdint>

#include "compiler/base/clock.h"

namespace kiln::reload {

struct WatchCounts {
  uint64_t conflated = 0;  // events that newer ones replaced before they were taken
  uint64_t artifacts = 0;  // that were told
  Duration latency{};      // of those: from the push
};

class WatchCounters {
 public:
  void AddConflated(uint64_t events) { conflated_ += events; }
  void AddArtifact(Duration latency) {
    ++artifacts_;
    latency_ += latency.count();
  }
  WatchCounts Read() const {
    return {.conflated = conflated_, .artifacts = artifacts_, .latency = Duration(latency_.load())};
  }

 private:
  std::atomic<uint64_t> conflated_ = 0;
  std::atomic<uint64_t> artifacts_ = 0;
  std::atomic<Duration::rep> latency_ = 0;
};

}  // namespace kiln::reload
