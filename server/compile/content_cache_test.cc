// SPDX-License-Identifier: MIT
#include "server/compile/content_cache.h"

#include <gtest/gtest.h>

namespace kiln::compile {
namespace {

TEST(ContentCache, Added_IsTrustedForHalfALease) {
  FakeClock clock;
  ContentCache kept(clock);
  const Hash128 id = HashBytes(AsBytes("words"));
  EXPECT_FALSE(kept.Has(id));
  kept.Add(id);
  clock.Advance(std::chrono::minutes(4));
  EXPECT_TRUE(kept.Has(id));
  clock.Advance(std::chrono::minutes(1));
  EXPECT_FALSE(kept.Has(id));
}

TEST(ContentCache, Cleared_KnowsNothing) {
  FakeClock clock;
  ContentCache kept(clock);
  const Hash128 id = HashBytes(AsBytes("words"));
  kept.Add(id);
  kept.Clear();
  EXPECT_FALSE(kept.Has(id));
}

}  // namespace
}  // namespace kiln::compile
