// SPDX-License-Identifier: MIT
#include "compiler/base/text/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Words, OfATable_AreSeparatedByOneSpace) {
  EXPECT_THAT(WordsOf("T V 1"), ElementsAre("T", "V", "1"));
  EXPECT_THAT(WordsOf("alone"), ElementsAre("alone"));
  EXPECT_THAT(WordsOf(""), IsEmpty());
  EXPECT_THAT(WordsOf("a  b"), ElementsAre("a", "", "b"));  // two spaces: an empty word
  EXPECT_THAT(WordsOf("a "), ElementsAre("a"));
}

TEST(Words, TakenOne_IsGone) {
  std::string_view text = "image 2d";
  EXPECT_EQ(TakeWord(text), "image");
  EXPECT_EQ(text, "2d");
  EXPECT_EQ(TakeWord(text), "2d");
  EXPECT_EQ(TakeWord(text), "");
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace kiln
