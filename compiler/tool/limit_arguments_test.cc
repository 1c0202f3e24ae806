// SPDX-License-Identifier: MIT
#include "compiler/tool/limit_arguments.h"

#include <vector>

#include <gtest/gtest.h>

namespace kiln::tool {
namespace {

TEST(LimitArguments, TheLastOfAName_Counts) {
  const std::vector<std::string> arguments{"workgroup=256", "include_depth=8", "workgroup=1024"};
  const Result<LanguageLimits> limits = ReadLimits(arguments);
  ASSERT_TRUE(limits.ok());
  EXPECT_EQ(limits->workgroup, 1024U);
  EXPECT_EQ(limits->include_depth, 8U);
  EXPECT_EQ(ReadLimits({})->workgroup, LanguageLimits{}.workgroup);
}

TEST(LimitArguments, WhatIsNoLimitOrOutOfRange_IsRefused) {
  for (const char* wrong : {"", "workgroup", "workgroup=", "workgroup=0", "workgroup=-1",
                            "workgroup=4097", "workgroup=1x", "threads=4", "=4"}) {
    const std::vector<std::string> arguments{wrong};
    EXPECT_FALSE(ReadLimits(arguments).ok()) << wrong;
  }
}

}  // namespace
}  // namespace kiln::tool
