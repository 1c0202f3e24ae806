// SPDX-License-Identifier: MIT
#include "compiler/base/reasons.h"

#include <set>

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Reasons, EachWordIsOneRowAndIsFound) {
  std::set<std::string_view> words;
  for (const Reason& reason : AllReasons()) {
    EXPECT_TRUE(words.insert(reason.word).second) << reason.word << " stands twice";
    EXPECT_EQ(FindReason(reason.word), &reason);
    EXPECT_FALSE(reason.meaning.empty() || reason.status.empty()) << reason.word;
    EXPECT_FALSE(reason.meaning.ends_with('.') || reason.help.ends_with('.')) << reason.word;
    EXPECT_TRUE(reason.repeat != Repeat::kAfter || !reason.help.empty())
        << reason.word << ": after what?";
  }
}

TEST(Reasons, WhatIsNoReasonIsNotFound) {
  for (const std::string_view word : {"", "queue_full", "QUEUE", "QUEUE_FULL "}) {
    EXPECT_EQ(FindReason(word), nullptr) << word;
  }
}

}  // namespace
}  // namespace kiln
