// SPDX-License-Identifier: MIT
#include "runtime/graph/execute/record_threads.h"

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

namespace kiln::graph {
namespace {

TEST(RecordThreads, LaneThatThrows_IsThrownHereWhenAllAreDone) {
  constexpr uint32_t kLanes = 4;
  RecordThreads threads(kLanes);
  for (uint32_t wrong = 0; wrong < kLanes; ++wrong) {
    std::atomic<uint32_t> done = 0;
    auto work = [&](uint32_t lane) {
      ++done;
      if (lane == wrong) {
        throw std::runtime_error("lane");
      }
    };
    EXPECT_THROW(threads.Run(work), std::runtime_error) << wrong;
    EXPECT_EQ(done, kLanes) << wrong;
    auto well = [&](uint32_t) { ++done; };
    threads.Run(well);  // they live on, and remember nothing
    EXPECT_EQ(done, 2 * kLanes) << wrong;
  }
}

}  // namespace
}  // namespace kiln::graph
