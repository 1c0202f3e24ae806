// SPDX-License-Identifier: MIT
#include "cache/collect.h"

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

std::vector<int64_t> Order(std::vector<Candidate> candidates) {
  SortForEviction(candidates);
  std::vector<int64_t> order;
  order.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    order.push_back(candidate.record);
  }
  return order;
}

TEST(Collect, LowestCostPerByte_GoesFirst) {
  EXPECT_EQ(Order({{.record = 1, .cost_us = 100, .bytes = 10},
                   {.record = 2, .cost_us = 100, .bytes = 1000},
                   {.record = 3, .cost_us = 1, .bytes = 10},
                   {.record = 4, .cost_us = 0, .bytes = 1}}),
            (std::vector<int64_t>{4, 2, 3, 1}));
}

TEST(Collect, EqualCandidates_GoByRecord) {
  EXPECT_EQ(Order({{.record = 9, .cost_us = 2, .bytes = 2},
                   {.record = 3, .cost_us = 1, .bytes = 1},
                   {.record = 5, .cost_us = 0, .bytes = 0}}),
            (std::vector<int64_t>{5, 3, 9}));
}

TEST(Collect, HugeCostsAndSizes_DoNotOverflow) {
  EXPECT_EQ(Order({{.record = 1, .cost_us = UINT64_MAX, .bytes = 1},
                   {.record = 2, .cost_us = 1, .bytes = UINT64_MAX}}),
            (std::vector<int64_t>{2, 1}));
}

TEST(Collect, Modules_CountAsYounger) {
  EXPECT_EQ(EvictionQuantum(Level::kModule, 10), 14);
  EXPECT_EQ(EvictionQuantum(Level::kSignature, 10), 10);
}

}  // namespace
}  // namespace kiln::cache
