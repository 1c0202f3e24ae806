// SPDX-License-Identifier: MIT
#include "server/rpc/calls/fetch_pages.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

TEST(DigestSet, RandomSteps_AgreeWithASet) {
  std::mt19937 random(9);
  DigestSet digests;
  std::set<Digest> model;
  for (int i = 0; i < 5'000; ++i) {
    Digest digest;  // many of them begin alike
    digest.id.bytes[random() % 16] = static_cast<uint8_t>(random());
    digest.id.bytes[7] = static_cast<uint8_t>(random() % 3);
    digest.size = random() % 3;
    ASSERT_EQ(digests.Contains(digest), model.contains(digest));
    const bool is_new = model.insert(digest).second;
    ASSERT_EQ(digests.Add(digest), is_new);
    if (is_new && random() % 4 == 0) {
      digests.TakeBack();
      model.erase(digest);
    }
  }
  EXPECT_TRUE(std::ranges::equal(digests.Sorted(), model));
}

}  // namespace
}  // namespace kiln::rpc
