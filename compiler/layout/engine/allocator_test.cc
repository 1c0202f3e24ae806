// SPDX-License-Identifier: MIT
#include "compiler/layout/engine/allocator.h"

#include <set>

#include <gtest/gtest.h>

namespace kiln::layout {
namespace {

TEST(Counts, Arithmetic_Saturates) {
  EXPECT_EQ(AddCounts(2, 3), 5u);
  EXPECT_EQ(AddCounts(kUnbounded, 3), kUnbounded);
  EXPECT_EQ(AddCounts(kUnbounded, kUnknown), kUnknown);
  EXPECT_EQ(MultiplyCounts(kUnbounded, 0), 0u);
  EXPECT_EQ(MultiplyCounts(kUnbounded - 1, 2), kUnbounded);
  EXPECT_EQ(MultiplyCounts(kUnknown, 0), kUnknown);
}

TEST(FreeNumbers, FirstFit_SkipsHolesThatAreTooSmall) {
  FreeNumbers numbers;
  numbers.Take({.first = 2, .count = 1});
  EXPECT_EQ(numbers.FirstFit(3), 3u);
  EXPECT_EQ(numbers.FirstFit(1), 0u);
  EXPECT_EQ(numbers.FirstFit(2), 6u);
  EXPECT_EQ(numbers.FirstFit(1), 1u);
}

// Against a set of numbers, over all ways to take three runs out of eight numbers.
TEST(FreeNumbers, TakenRuns_AreNeverGivenOut) {
  for (uint64_t choice = 0; choice < uint64_t{8} * 8 * 8; ++choice) {
    FreeNumbers numbers;
    std::set<uint64_t> taken;
    for (uint64_t i = 0, rest = choice; i < 3; ++i, rest /= 8) {
      numbers.Take({.first = rest % 8, .count = 1 + i});
      for (uint64_t n = 0; n <= i; ++n) {
        taken.insert(rest % 8 + n);
      }
    }
    const uint64_t first = numbers.FirstFit(2).value();
    uint64_t expected = 0;
    while (taken.contains(expected) || taken.contains(expected + 1)) {
      ++expected;
    }
    EXPECT_EQ(first, expected) << choice;
  }
}

TEST(Allocator, Claims_ConflictWhereTheyMeet) {
  Allocator allocator;
  EXPECT_FALSE(allocator.Claim(0, Kind::kT, {.first = 0, .count = 4}, 1));
  EXPECT_FALSE(allocator.Claim(1, Kind::kT, {.first = 3, .count = 1}, 2));
  EXPECT_FALSE(allocator.Claim(0, Kind::kU, {.first = 3, .count = 1}, 2));
  const auto conflict = allocator.Claim(0, Kind::kT, {.first = 3, .count = 1}, 2);
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->other, 1u);
  EXPECT_EQ(conflict->first, 3u);
}

TEST(Allocator, Aliases_MayMeetEachOtherOnly) {
  Allocator allocator;
  const auto may = Allocator::Aliasing::kAllowed;
  EXPECT_FALSE(allocator.Claim(0, Kind::kSlot, {.first = 1}, 1, may));
  EXPECT_FALSE(allocator.Claim(0, Kind::kSlot, {.first = 1}, 2, may));
  EXPECT_TRUE(allocator.Claim(0, Kind::kSlot, {.first = 1}, 3));
}

TEST(Allocator, WholeSpaces_AdmitNoOtherOwner_WhicheverCameFirst) {
  Allocator allocator;
  EXPECT_FALSE(allocator.Claim(2, Kind::kT, {.first = 0}, 1));
  EXPECT_TRUE(allocator.ClaimSpaces({.first = 1, .count = 2}, 2));
  EXPECT_FALSE(allocator.ClaimSpaces({.first = 3, .count = 1}, 2));
  EXPECT_TRUE(allocator.Claim(3, Kind::kT, {.first = 0}, 1));
  EXPECT_FALSE(allocator.FirstFit(3, Kind::kU, 1, 1));
}

TEST(Allocator, RunsOfSpaces_SkipSpacesInUse) {
  Allocator allocator;
  allocator.UseSpace(1);
  EXPECT_EQ(allocator.FirstFitSpaces(2, 7), 2u);
  EXPECT_EQ(allocator.FirstFitSpaces(1, 8), 0u);
  EXPECT_EQ(allocator.WholeOwnerOf(3), 7u);
  EXPECT_EQ(allocator.LowestUnowned(), 1u);
}

TEST(Allocator, UnboundedClaims_ReachTheLastNumber) {
  Allocator allocator;
  EXPECT_FALSE(allocator.Claim(0, Kind::kT, {.first = 5, .count = kUnbounded}, 1));
  EXPECT_TRUE(allocator.Claim(0, Kind::kT, {.first = 0xffffffffu}, 2));
  EXPECT_EQ(allocator.FirstFit(0, Kind::kT, 5, 2), 0u);
  EXPECT_FALSE(allocator.FirstFit(0, Kind::kT, 1, 2));
}

}  // namespace
}  // namespace kiln::layout
