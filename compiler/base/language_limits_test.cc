// SPDX-License-Identifier: MIT
#include "compiler/base/language_limits.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(LanguageLimits, Table_IsSortedAndHoldsTheDefaults) {
  std::string before;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    EXPECT_LT(before, row.name);
    before = row.name;
    EXPECT_LE(row.least, LanguageLimits{}.*row.value) << row.name;
    EXPECT_GE(row.most, LanguageLimits{}.*row.value) << row.name;
    EXPECT_GT(row.least, 0u) << row.name;
  }
}

TEST(LanguageLimits, Rows_AreDifferentFields) {
  LanguageLimits limits{};
  uint32_t next = 1;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    limits.*row.value = next++;
  }
  next = 1;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    EXPECT_EQ(limits.*row.value, next++) << row.name;
  }
}

}  // namespace
}  // namespace kiln
