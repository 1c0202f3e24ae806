// SPDX-License-Identifier: MIT
#include "tests/golden/runner/topic_file.h"

#include <gtest/gtest.h>

namespace kiln::golden {
namespace {

TEST(TopicFile, CasesComeInOrderAndGoBackAsTheyWere) {
  const std::string text =
      "//--- A1.rpl\n// run: stage=check\n\nint x;\n//--- expected\nerror\n  |\n"
      "//--- A2.hlsl\n// run: stage=lex\n//--- A3.rpl\nx\n//--- expected\n";
  const std::vector<TopicCase> cases = ParseTopic(text);
  ASSERT_EQ(cases.size(), 3);
  EXPECT_EQ(cases[0].name, "A1.rpl");
  EXPECT_EQ(cases[0].source, "// run: stage=check\n\nint x;\n");
  EXPECT_EQ(cases[0].expected, "error\n  |\n");
  EXPECT_EQ(cases[1].source, "// run: stage=lex\n");
  EXPECT_EQ(cases[1].expected, std::nullopt) << "nothing is expected yet";
  EXPECT_EQ(cases[2].expected, "") << "it is expected that nothing comes out";
  EXPECT_EQ(TopicText(cases), text);
}

TEST(TopicFile, WhatHasNoNameIsNoTopic) {
  for (const std::string_view text : {"", "int x;\n//--- A.rpl\n", "//--- expected\n",
                                      "//--- A.rpl\n//--- expected\n//--- expected\n"}) {
    EXPECT_TRUE(ParseTopic(text).empty()) << text;
  }
}

}  // namespace
}  // namespace kiln::golden
