// SPDX-License-Identifier: MIT
#include "server/rpc/reactors/byte_room.h"

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

using ops::Party;

TEST(ByteRoom, OneParty_HasHalfOrOneShare) {
  ByteRoom room(100);
  ByteRoom::Share one(room, Party::User(1)), same(room, Party::User(1)),
      other(room, Party::User(2));
  EXPECT_TRUE(one.Take(30));
  EXPECT_FALSE(same.Take(21));
  EXPECT_TRUE(same.Take(20));
  EXPECT_TRUE(other.Take(25));
  one.GiveBackAll();
  same.GiveBackAll();
  EXPECT_FALSE(one.Take(51)) << "with the other's it is more than three quarters";
  other.GiveBackAll();
  EXPECT_TRUE(one.Take(75)) << "more than half at once, if it has nothing else";
  EXPECT_FALSE(same.Take(1));
}

TEST(ByteRoom, WhateverOthersHold_TheOwnerFindsAQuarter) {
  ByteRoom room(100);
  ByteRoom::Share owner(room, Party::Owner());
  {
    ByteRoom::Share one(room, Party::User(1)), two(room, Party::User(2)),
        three(room, Party::User(3));
    EXPECT_TRUE(one.Take(50));
    EXPECT_TRUE(two.Take(25));
    EXPECT_FALSE(three.Take(1));
    EXPECT_TRUE(owner.Take(25));
    EXPECT_FALSE(owner.Take(1));
  }
  EXPECT_TRUE(owner.Take(75));
}

}  // namespace
}  // namespace kiln::rpc
