// SPDX-License-Identifier: MIT
#include "tests/support/listed_skips.h"

#include <gtest/gtest.h>

namespace kiln::testing_support {
namespace {

constexpr std::string_view kList =
    "# comment\n"
    "lavapipe  draw.Bounds.Cut   depth bounds\n"
    "elsewhere draw.Parts.Link   fast linking\n"
    "\n"
    "anywhere  draw.Real.Cache   a GPU\n";

TEST(ListedSkips, Judge_ComplainsOfWhatTheListDoesNotSay) {
  struct Row {
    std::string test;
    bool skipped;
    std::string reason;
    bool lavapipe;
    std::string complaint;
  };
  const std::vector<Row> rows = {
      {"draw.Other.One", false, "", true, ""},
      {"draw.Other.One", true, "tired", true,
       "draw.Other.One is skipped (tired) and not in tests/skips.txt"},
      {"other.Bounds.Cut", true, "depth bounds", true,
       "other.Bounds.Cut is skipped (depth bounds) and not in tests/skips.txt"},
      {"draw.Bounds.Cut", true, "needs depth bounds", true, ""},
      {"draw.Bounds.Cut", true, "tired", true,
       "draw.Bounds.Cut is skipped without naming depth bounds: tired"},
      {"draw.Bounds.Cut", false, "", true,
       "draw.Bounds.Cut is not skipped on lavapipe, tests/skips.txt says that it lacks depth "
       "bounds"},
      {"draw.Bounds.Cut", false, "", false, ""},
      {"draw.Parts.Link", true, "fast linking", true,
       "draw.Parts.Link is skipped on lavapipe, which has fast linking"},
      {"draw.Parts.Link", true, "fast linking", false, ""},
      {"draw.Parts.Link", false, "", true, ""},
      {"draw.Real.Cache", true, "there is not a GPU", true, ""},
      {"draw.Real.Cache", false, "", false, ""},
  };
  const auto list = ReadSkipList(kList);
  ASSERT_TRUE(list.ok()) << ErrorText(list.error());
  EXPECT_EQ(list->size(), 3U);
  for (const Row& row : rows) {
    EXPECT_EQ(JudgeSkip(*list, {row.test, row.skipped, row.reason, row.lavapipe}), row.complaint);
  }
}

TEST(ListedSkips, WrongLine_IsNamed) {
  for (const char* const line : {"sometimes a.b.c thing", "lavapipe a.b.c", "lavapipe a.b thing"}) {
    EXPECT_EQ(ReadSkipList(std::string("# x\n") + line).error().context,
              std::string("line 2 is not WHERE PROGRAM.SUITE.CASE ITEM: ") + line);
  }
}

}  // namespace
}  // namespace kiln::testing_support
