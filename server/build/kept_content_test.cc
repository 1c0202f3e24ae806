// SPDX-License-Identifier: MIT
#include "server/build/kept_content.h"

#include <gtest/gtest.h>

namespace kiln::build {
namespace {

TEST(KeptContent, Added_IsTrustedForHalfALease) {
  FakeClock clock;
  KeptContent kept(clock);
  const Hash128 id = HashBytes(AsBytes("words"));
  EXPECT_FALSE(kept.Has(id));
  kept.Add(id);
  clock.Advance(std::chrono::minutes(4));
  EXPECT_TRUE(kept.Has(id));
  clock.Advance(std::chrono::minutes(1));
  EXPECT_FALSE(kept.Has(id));
}

TEST(KeptContent, Cleared_KnowsNothing) {
  FakeClock clock;
  KeptContent kept(clock);
  const Hash128 id = HashBytes(AsBytes("words"));
  kept.Add(id);
  kept.Clear();
  EXPECT_FALSE(kept.Has(id));
}

}  // namespace
}  // namespace kiln::build
