// SPDX-License-Identifier: MIT
#include "compiler/base/text/closest_name.h"

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string_view Among(std::string_view word, std::initializer_list<std::string_view> names) {
  return ClosestName(word).OfferAll(names).best();
}

TEST(ClosestName, NearWords_AreFound) {
  EXPECT_EQ(Among("shad", {"light", "shade", "shadow"}), "shade");
  EXPECT_EQ(Among("depth_tset", {"depth_test", "depth_write"}), "depth_test");
  EXPECT_EQ(Among("refracton", {"reflection", "refraction"}), "refraction");
  EXPECT_EQ(Among("Position", {"position"}), "position");
  EXPECT_EQ(Among("N", {"n"}), "n") << "only the case differs";
  EXPECT_EQ(Among("deep", {"dep"}), "dep");
  EXPECT_EQ(Among("uv", {"uv0"}), "uv0");
}

TEST(ClosestName, FarWords_AreNot) {
  EXPECT_EQ(Among("shad", {"light", "mesh"}), "");
  EXPECT_EQ(Among("x", {"y", "xy"}), "") << "any letter is one edit from any other";
  EXPECT_EQ(Among("ab", {"cd"}), "");
  EXPECT_EQ(Among("abc", {"axy"}), "");
  EXPECT_EQ(Among("", {"a", ""}), "");
}

TEST(ClosestName, EquallyNearWords_TheFirstWins) {
  EXPECT_EQ(Among("tint", {"tent", "tiny"}), "tent");
  EXPECT_EQ(Among("tint", {"tiny", "tent"}), "tiny");
}

TEST(ClosestName, LongWords_AreNotCompared) {
  const std::string longest(ClosestName::kLongest, 'a');
  const std::string off = longest.substr(1);
  EXPECT_EQ(Among(longest, {off}), off);
  const std::string longer = longest + "a";
  ClosestName search(longer);
  search.Offer(longest);
  EXPECT_EQ(search.best(), "");
  EXPECT_EQ(search.compared(), 0u);
}

}  // namespace
}  // namespace kiln
