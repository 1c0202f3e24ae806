// SPDX-License-Identifier: MIT
#include "server/ops/party.h"

#include <set>

#include <gtest/gtest.h>

#include "server/ops/party_table.h"

namespace kiln::ops {
namespace {

TEST(Party, Names_DifferBetweenAllKinds) {
  const Party all[] = {Party::Owner(),          Party::User(0),
                       Party::User(1001),       Party::User(std::nullopt),
                       Party::Token("a", "1"),  Party::Token("a", "2"),
                       Party::Token("b", "1"),  Party::Certificate("a"),
                       Party::Certificate("b"), Party::Host("10.0.0.7:1")};
  std::set<std::string> names;
  for (const Party& party : all) {
    EXPECT_TRUE(names.insert(party.name()).second) << party.name();
    EXPECT_EQ(party.is_owner(), party.name() == "owner");
  }
  EXPECT_TRUE(Party().is_owner());
}

TEST(Party, Host_IsAnAddressWithoutPortOrANetworkOfIPv6) {
  struct Row {
    const char *address, *name;
  };
  for (const Row& row : {Row{"10.0.0.7:4711", "host:10.0.0.7"}, Row{"10.0.0.7:1", "host:10.0.0.7"},
                         Row{"10.0.0.8:1", "host:10.0.0.8"},
                         Row{"[2001:db8:1:2:3:4:5:6]:1", "host:2001:db8:1:2::/64"},
                         Row{"[2001:db8:1:2::9]:7", "host:2001:db8:1:2::/64"},
                         Row{"[2001:db8:1:3::9]:7", "host:2001:db8:1:3::/64"}, Row{"", "host:"},
                         Row{"[x]:1", "host:[x]"}}) {
    EXPECT_EQ(Party::Host(row.address).name(), row.name);
  }
}

TEST(PartyTable, NeverHoldsMoreAndForgetsTheOneSeenLongestAgo) {
  PartyTable<int> table(3);
  for (int i = 0; i < 3; ++i) {
    table.At(std::to_string(i)) = i;
  }
  table.At("0");
  std::string forgotten;
  table.At("3", [&](const std::string& name, int&) { forgotten = name; });
  EXPECT_EQ(forgotten, "1");
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table.Find("1"), nullptr);
  ASSERT_NE(table.Find("2"), nullptr);
  EXPECT_EQ(*table.Find("2"), 2);
  EXPECT_EQ(*table.Find("3"), 0);
}

}  // namespace
}  // namespace kiln::ops
