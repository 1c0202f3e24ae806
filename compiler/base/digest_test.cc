// SPDX-License-Identifier: MIT
#include "compiler/base/digest.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr std::string_view kSource = "void main_vertex (void) {}\n";  // S of cache §2.6

TEST(DigestOf, SpecifiedVectors_Agree) {
  EXPECT_EQ(DigestOf("").id.hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(DigestOf("").size, 0u);
  EXPECT_EQ(DigestOf(kSource).id.hex(), "0aef25953033d800bca6c36a9de0ca3d");
  EXPECT_EQ(DigestOf(kSource).size, 27u);
}

TEST(Hasher, AnySplit_EqualsOneShot) {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += static_cast<char>(random());
  }
  for (int round = 0; round < 50; ++round) {
    const size_t length = random() % (text.size() + 1);
    const std::string_view all = std::string_view(text).substr(0, length);
    const size_t cut = length == 0 ? 0 : random() % length;
    Hasher hasher;
    hasher.Update(all.substr(0, cut));
    EXPECT_EQ(hasher.Finish(), DigestOf(all.substr(0, cut)));
    hasher.Update(all.substr(cut));
    EXPECT_EQ(hasher.Finish(), DigestOf(all));
  }
}

TEST(HashBytes, EveryLength_IsThatOfTheStream) {
  Bytes bytes;
  for (size_t size = 0; size < 4000; size += size < 600 ? 1 : 97) {
    bytes.resize(size, static_cast<std::byte>(size * 31));
    Hasher hasher;
    hasher.Update(bytes);
    ASSERT_EQ(HashBytes(bytes), hasher.Finish().id) << size;
  }
}

TEST(ParseHash128, HexOfEitherCase_RoundTrips) {
  const Hash128 hash = DigestOf(kSource).id;
  EXPECT_EQ(ParseHash128(hash.hex()), hash);
  EXPECT_EQ(ParseHash128("0AEF25953033D800BCA6C36A9DE0CA3D"), hash);
}

TEST(ParseHash128, AnythingElse_IsRefused) {
  for (const std::string_view text :
       {"", "0aef", "0aef25953033d800bca6c36a9de0ca3", "0aef25953033d800bca6c36a9de0ca3dd",
        "0aef25953033d800bca6c36a9de0ca3g", " aef25953033d800bca6c36a9de0ca3d"}) {
    EXPECT_EQ(ParseHash128(text), std::nullopt) << text;
  }
}

TEST(Hash128, Order_IsThatOfTheHexText) {
  const Hash128 a = *ParseHash128("00000000000000000000000000000001");
  const Hash128 b = *ParseHash128("80000000000000000000000000000000");
  EXPECT_LT(a, b);
  EXPECT_TRUE(Hash128{}.zero());
  EXPECT_FALSE(a.zero());
  EXPECT_NE(Hash128Hash{}(a), Hash128Hash{}(b));
}

}  // namespace
}  // namespace kiln
