// SPDX-License-Identifier: MIT
#include "server/ops/trace_ring.h"

#include <gtest/gtest.h>

namespace kiln::ops {
namespace {

TEST(TraceRing, Find_GivesAllCallsOfTheId) {
  TraceRing ring;
  ring.Add({.id = "a", .method = "Compile"});
  ring.Add({.id = "b", .method = "Fetch"});
  ring.Add({.id = "a", .method = "Explain"});
  const std::vector<CallTrace> found = ring.Find("a");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].method, "Compile");
  EXPECT_EQ(found[1].method, "Explain");
  EXPECT_TRUE(ring.Find("c").empty());
}

TEST(TraceRing, Full_ForgetsTheOldest) {
  TraceRing ring;
  for (size_t i = 0; i <= TraceRing::kKept; ++i) {
    ring.Add({.id = std::to_string(i)});
  }
  EXPECT_TRUE(ring.Find("0").empty());
  EXPECT_EQ(ring.Find("1").size(), 1u);
  EXPECT_EQ(ring.Find(std::to_string(TraceRing::kKept)).size(), 1u);
}

}  // namespace
}  // namespace kiln::ops
