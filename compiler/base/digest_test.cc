// SPDX-License-Identifier: MIT
#include "compiler/base/digest.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "compiler/base/hash/checksum.h"
#include "compiler/base/text/colliding_texts.h"

namespace kiln {
namespace {

constexpr std::string_view kSource = "void main_vertex (void) {}\n";  // S of spec/cache 2.6

TEST(DigestOf, SpecifiedVectors_Agree) {
  EXPECT_EQ(DigestOf("").id.hex(), "e3b0c44298fc1c149afbf4c8996fb924");
  EXPECT_EQ(DigestOf("").size, 0u);
  EXPECT_EQ(DigestOf(kSource).id.hex(), "60737ed823fb7f517fe81ff69924d637");
  EXPECT_EQ(DigestOf(kSource).size, 27u);
}

// What has one XXH3 by construction has two ids: the first of spec/cache 2.1.
TEST(DigestOf, TextsOfOneXxh3_HaveTwoIds) {
  const CollidingTexts texts = TextsOfOneXxh3("f1 brightness = 0.", ";\n");
  ASSERT_NE(texts.first, texts.second);
  ASSERT_EQ(Checksum(AsBytes(texts.first)), Checksum(AsBytes(texts.second)));
  EXPECT_NE(DigestOf(texts.first).id, DigestOf(texts.second).id);
  // A secret that nobody knows is not hit, either.
  EXPECT_NE(ProcessHash(AsBytes(texts.first)), ProcessHash(AsBytes(texts.second)));
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
  EXPECT_EQ(ParseHash128("60737ED823FB7F517FE81FF69924D637"), hash);
}

TEST(ParseHash128, AnythingElse_IsRefused) {
  for (const std::string_view text :
       {"", "6073", "60737ed823fb7f517fe81ff69924d63", "60737ed823fb7f517fe81ff69924d637d",
        "60737ed823fb7f517fe81ff69924d63g", " 0737ed823fb7f517fe81ff69924d637"}) {
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
