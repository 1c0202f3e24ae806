// SPDX-License-Identifier: MIT
#include "client/page_count.h"

#include <gtest/gtest.h>

namespace kiln::client {
namespace {

TEST(PageCount, TokenThatLeadsToItself_IsNoList) {
  PageCount pages;
  EXPECT_TRUE(pages.Add("a", 1).ok());
  EXPECT_TRUE(pages.Add("b", 1).ok());
  const Result<void> again = pages.Add("b", 1);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().reason, "PAGES_WITHOUT_END");
  EXPECT_EQ(again.error().code, ErrorCode::kDataLoss);
}

TEST(PageCount, PagesUpToTheBound_MayComeAndNoMore) {
  PageCount pages;
  for (uint32_t i = 1; i < PageCount::kMost; ++i) {
    ASSERT_TRUE(pages.Add(std::to_string(i), 1).ok()) << i;
  }
  PageCount at_the_end = pages;
  EXPECT_TRUE(at_the_end.Add("", 1).ok());
  EXPECT_FALSE(pages.Add("more", 1).ok());
}

TEST(PageCount, BytesUpToTheBound_MayComeAndNoMore) {
  PageCount pages;
  EXPECT_TRUE(pages.Add("a", PageCount::kMostBytes - 1).ok());
  PageCount at_the_end = pages;
  EXPECT_TRUE(at_the_end.Add("", 1).ok());
  EXPECT_FALSE(pages.Add("b", 1).ok());
}

}  // namespace
}  // namespace kiln::client
