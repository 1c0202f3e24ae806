// SPDX-License-Identifier: MIT
#include "compiler/diag/message_count.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

// How many of `count` messages are kept.
size_t Taken(MessageCount& found, Severity severity, size_t count) {
  size_t taken = 0;
  for (size_t i = 0; i < count; ++i) {
    taken += found.Take(severity) ? 1 : 0;
  }
  return taken;
}

TEST(MessageCount, Errors_AreFullAtTheLimit) {
  MessageCount found;
  EXPECT_EQ(Taken(found, Severity::kError, kMaxFound - 1), kMaxFound - 1);
  EXPECT_FALSE(found.IsFull());
  EXPECT_TRUE(found.Take(Severity::kError));
  EXPECT_TRUE(found.IsFull());
  EXPECT_FALSE(found.Take(Severity::kError));
}

TEST(MessageCount, Warnings_NeitherEndNorTakeThePlaceOfErrors) {
  MessageCount found;
  EXPECT_EQ(Taken(found, Severity::kWarning, kMaxFound), kMaxFound);
  EXPECT_FALSE(found.Take(Severity::kWarning));
  EXPECT_FALSE(found.Take(Severity::kLint)) << "is counted with them";
  EXPECT_FALSE(found.IsFull());
  EXPECT_TRUE(found.Take(Severity::kError));
}

}  // namespace
}  // namespace kiln
