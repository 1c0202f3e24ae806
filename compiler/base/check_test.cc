// SPDX-License-Identifier: MIT
#include "compiler/base/check.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/id.h"

namespace kiln {
namespace {

enum class Colour : uint8_t { kRed = 3 };

// What a failing check says: thrown in release builds, printed before the abort in debug builds.
template <class Fails>
void ExpectFailure(Fails fails, const std::string& said) {
#ifdef NDEBUG
  try {
    fails();
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(said));
  }
#else
  EXPECT_DEATH(fails(), testing::HasSubstr(said));
#endif
}

TEST(CheckDeathTest, Holds_DoesNothing) {
  int evaluated = 0;
  KILN_CHECK(++evaluated == 1, "never shown {}", evaluated);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, Fails_NamesFileAndCondition) {
  ExpectFailure([] { KILN_CHECK(1 + 1 == 3); }, "compiler/base/check_test.cc:");
  ExpectFailure([] { KILN_CHECK(1 + 1 == 3); }, "check failed: 1 + 1 == 3");
}

TEST(CheckDeathTest, FailsWithValues_PrintsEachKind) {
  ExpectFailure([] { KILN_CHECK(false, "{} {} {}", -1, 4000000000u, true); }, "-1 4000000000 true");
  ExpectFailure([] { KILN_CHECK(false, "{} {} {}", "a", std::string("b"), 0.5); }, "a b 0.5");
  ExpectFailure([] { KILN_CHECK(false, "{} {}", Colour::kRed, Id<void>{7}); }, "3 7");
  ExpectFailure([] { KILN_CHECK(false, "{}"); }, ": {}");
}

TEST(CheckDeathTest, Unreachable_Fails) {
  ExpectFailure([] { KILN_UNREACHABLE(); }, "unreachable");
}

}  // namespace
}  // namespace kiln
