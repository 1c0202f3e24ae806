// SPDX-License-Identifier: MIT
#include "cache/removed_keys.h"

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

TEST(RemovedKeys, TheOldestIsForgottenFirst_AndTheLatestRemovalCounts) {
  RemovedKeys removed(2);
  const Hash128 a = DigestOf("a").id;
  const Hash128 b = DigestOf("b").id;
  const Hash128 c = DigestOf("c").id;
  removed.Add(a, {.by = RemovedBy::kCollection, .at_s = 1});
  removed.Add(b, {.by = RemovedBy::kDamage, .at_s = 2});
  removed.Add(b, {.by = RemovedBy::kExpiry, .at_s = 3});
  EXPECT_TRUE(removed.Find(a).has_value());
  removed.Add(c, {.by = RemovedBy::kDamage, .at_s = 4});
  EXPECT_EQ(removed.Find(a), std::nullopt);
  EXPECT_EQ(removed.Find(b), (Removal{.by = RemovedBy::kExpiry, .at_s = 3}));
  EXPECT_EQ(removed.Find(c), (Removal{.by = RemovedBy::kDamage, .at_s = 4}));
  EXPECT_EQ(removed.count(), 4u);
}

}  // namespace
}  // namespace kiln::cache
