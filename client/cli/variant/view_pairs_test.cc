// SPDX-License-Identifier: MIT
#include "client/cli/variant/view_pairs.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

std::vector<RenderedView> Views(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::vector<RenderedView> views;
  for (const auto& [view, text] : rows) {
    views.push_back({.view = view, .text = text, .json = {}});
  }
  return views;
}

TEST(ViewPairs, ViewsOfEitherSide_AreCompared) {
  const std::vector<RenderedView> first = Views({{"stats", "1"}, {"meta", "m"}});
  const std::vector<RenderedView> second = Views({{"options", "o"}, {"stats", "2"}});
  std::string told;
  for (const ViewPair& pair : PairsOf(first, second)) {
    told += pair.view + "(" + std::string(pair.first) + "|" + std::string(pair.second) + ")";
  }
  EXPECT_EQ(told, "stats(1|2)meta(m|)options(|o)");
  EXPECT_TRUE(PairsOf({}, {}).empty());
}

}  // namespace
}  // namespace kiln::cli
