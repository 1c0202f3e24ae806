// SPDX-License-Identifier: MIT
#include "cache/sqlite/session/absence_filter.h"

#include <gtest/gtest.h>

namespace kiln::cache::sqlite {
namespace {

Key KeyOf(uint64_t number, Level level = Level::kSignature, uint32_t space = 0) {
  return {.level = level, .space = space, .id = HashBytes(std::as_bytes(std::span(&number, 1)))};
}

TEST(AbsenceFilter, OfFileWithRows_NothingIsKnown) {
  AbsenceFilter filter;
  EXPECT_TRUE(filter.MayHave(KeyOf(1)));  // before any file
  filter.Start(AbsenceFilter::File::kHasRows);
  filter.Add(KeyOf(1));
  EXPECT_TRUE(filter.MayHave(KeyOf(2)));
}

TEST(AbsenceFilter, WhatWasAdded_MayBeThereAndLittleElse) {
  AbsenceFilter filter;
  filter.Start(AbsenceFilter::File::kIsEmpty);
  EXPECT_FALSE(filter.MayHave(KeyOf(0)));
  constexpr uint64_t kRows = 100'000;
  for (uint64_t i = 0; i < kRows; ++i) {
    filter.Add(KeyOf(i));
  }
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE(filter.MayHave(KeyOf(i)));
    wrong += filter.MayHave(KeyOf(kRows + i)) ? 1 : 0;
  }
  EXPECT_LT(wrong, kRows / 100);
}

TEST(AbsenceFilter, LevelAndSpace_ArePartOfTheKey) {
  AbsenceFilter filter;
  filter.Start(AbsenceFilter::File::kIsEmpty);
  filter.Add(KeyOf(1));
  EXPECT_FALSE(filter.MayHave(KeyOf(1, Level::kRecipe)));
  EXPECT_FALSE(filter.MayHave(KeyOf(1, Level::kSignature, 1)));
  EXPECT_TRUE(filter.MayHave(KeyOf(1)));
}

TEST(AbsenceFilter, MoreRowsThanItCanTell_NothingIsKnown) {
  AbsenceFilter filter;
  filter.Start(AbsenceFilter::File::kIsEmpty);
  for (uint64_t i = 0; i < AbsenceFilter::kMostRows; ++i) {
    filter.Add(KeyOf(i));
  }
  EXPECT_FALSE(filter.MayHave(KeyOf(AbsenceFilter::kMostRows + 5)));
  filter.Add(KeyOf(AbsenceFilter::kMostRows));
  EXPECT_TRUE(filter.MayHave(KeyOf(AbsenceFilter::kMostRows + 5)));
  filter.Start(AbsenceFilter::File::kIsEmpty);  // the file was replaced
  EXPECT_FALSE(filter.MayHave(KeyOf(1)));
}

}  // namespace
}  // namespace kiln::cache::sqlite
