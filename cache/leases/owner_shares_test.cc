// SPDX-License-Identifier: MIT
#include "cache/leases/owner_shares.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

struct Part {
  const char* owner;
  uint64_t amount;
};

OwnerShares SharesOf(uint64_t most, const std::vector<Part>& parts) {
  OwnerShares shares(most);
  for (const Part& part : parts) {
    shares.Add(part.owner, part.amount);
  }
  return shares;
}

TEST(OwnerShares, FitsTable) {
  const struct {
    std::vector<Part> parts;
    const char* owner;
    bool fits;
  } table[] = {
      {{{"owner", 100}}, "owner", true},
      {{{"", 100}}, "owner", true},
      {{{"owner", 101}}, "owner", false},
      {{{"tenant:a", 50}}, "tenant:a", true},
      {{{"tenant:a", 51}}, "tenant:a", false},
      {{{"tenant:a", 51}}, "owner", true},
      {{{"tenant:a", 50}, {"tenant:b", 25}}, "tenant:b", true},
      {{{"tenant:a", 50}, {"tenant:b", 26}}, "tenant:b", false},
      {{{"tenant:a", 50}, {"tenant:b", 25}, {"owner", 25}}, "owner", true},
      {{{"tenant:a", 50}, {"tenant:b", 25}, {"owner", 26}}, "owner", false},
      {{{"tenant:a", 1}, {"owner", 100}}, "tenant:a", false},
  };
  for (const auto& row : table) {
    const OwnerShares shares = SharesOf(100, row.parts);
    EXPECT_EQ(shares.Fits(row.owner), row.fits) << &row - table;
  }
}

TEST(OwnerShares, StandsInTheWayTable) {
  const struct {
    std::vector<Part> parts;
    const char* owner;
    const char* in_the_way;  // of a, b, owner
  } table[] = {
      {{{"tenant:a", 60}, {"tenant:b", 10}}, "tenant:a", "a"},
      {{{"tenant:a", 50}, {"tenant:b", 30}}, "tenant:b", "ab"},
      {{{"tenant:a", 10}, {"owner", 95}}, "tenant:a", "abo"},
      {{{"tenant:a", 50}, {"owner", 60}}, "owner", "abo"},
  };
  for (const auto& row : table) {
    const OwnerShares shares = SharesOf(100, row.parts);
    std::string in_the_way;
    for (const char* const other : {"tenant:a", "tenant:b", "owner"}) {
      const std::string name = other;
      in_the_way += !shares.StandsInTheWay(other, row.owner) ? ""
                    : name == "owner"                        ? "o"
                                                             : name.substr(name.size() - 1);
    }
    EXPECT_EQ(in_the_way, row.in_the_way) << &row - table;
  }
}

TEST(OwnerShares, NextToGo_IsTheOldestOfWhoeverHasMost) {
  const OwnerShares shares = SharesOf(100, {{"tenant:a", 40}, {"tenant:b", 30}, {"owner", 50}});
  std::vector<OwnedThing> things = {{.owner = "tenant:b", .used = 1},
                                    {.owner = "tenant:a", .used = 3},
                                    {.owner = "tenant:a", .used = 2},
                                    {.owner = "", .used = 9, .may_go = false}};
  std::string order;
  for (std::optional<size_t> next = NextToGo(shares, things, "tenant:c"); next.has_value();
       next = NextToGo(shares, things, "tenant:c")) {
    order += std::to_string(*next);
    things[*next].may_go = false;
  }
  EXPECT_EQ(order, "210");
}

TEST(OwnerShares, WhatIsRemoved_Fits) {
  OwnerShares shares = SharesOf(100, {{"tenant:a", 60}, {"", 40}});
  EXPECT_FALSE(shares.Fits("tenant:a"));
  shares.Remove("tenant:a", 10);
  shares.Remove("owner", 40);
  EXPECT_TRUE(shares.Fits("tenant:a"));
  EXPECT_EQ(shares.all(), 50u);
  EXPECT_EQ(shares.Of("tenant:a"), 50u);
  EXPECT_EQ(shares.Of("tenant:b"), 0u);
}

}  // namespace
}  // namespace kiln::cache
