// SPDX-License-Identifier: MIT
#include "server/compile/rows/signature_groups.h"

#include <gtest/gtest.h>

namespace kiln::compile {
namespace {

Hash128 Id(uint32_t number) { return HashBytes(std::as_bytes(std::span(&number, 1))); }

TEST(SignatureGroups, Signature_IsNewOnce) {
  SignatureGroup group;
  EXPECT_TRUE(group.FindOrAdd(Id(1), {.program = 4, .row = 9}).is_new);
  const SignatureGroup::Member known = group.FindOrAdd(Id(1), {.program = 5, .row = 0});
  EXPECT_FALSE(known.is_new);
  EXPECT_EQ(known.place.program, 4u);
  EXPECT_EQ(known.place.row, 9u);
  EXPECT_TRUE(group.FindOrAdd(Id(2), {}).is_new);
}

TEST(SignatureGroups, ProgramsWithACommonEntry_ShareItsGroup) {
  const std::vector<std::vector<Hash128>> entries = {
      {Id(1), Id(2)}, {Id(3)}, {Id(2), Id(4)}, {}, {Id(5), Id(5)}};
  const auto groups = SignatureGroupsOf(entries);
  ASSERT_EQ(groups.size(), entries.size());
  EXPECT_EQ(groups[0][1], groups[2][0]);
  EXPECT_EQ(groups[0][1]->programs(), 2u);
  EXPECT_NE(groups[0][0], groups[0][1]);
  EXPECT_EQ(groups[0][0]->programs(), 1u);
  EXPECT_EQ(groups[1][0]->programs(), 1u);
  EXPECT_TRUE(groups[3].empty());
  EXPECT_EQ(groups[4][0], groups[4][1]);
  EXPECT_EQ(groups[4][0]->programs(), 1u) << "its targets differ in recipes";
}

}  // namespace
}  // namespace kiln::compile
