// SPDX-License-Identifier: MIT
#include "compiler/base/sha256.h"

#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string HexOf(std::string_view text) { return Sha256Hex(Sha256(AsBytes(text))); }

TEST(Sha256, VectorsOfFips180_Agree) {
  EXPECT_EQ(HexOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HexOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(HexOf(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// With the instructions of the processor, if it has any, and without.
TEST(Sha256Blocks, EveryForm_GivesTheSameState) {
  std::mt19937 random(3);
  std::array<std::byte, 9 * kSha256Block> bytes;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  for (size_t count = 0; count <= 9; ++count) {
    Sha256State fast = kSha256Start;
    Sha256State plain = kSha256Start;
    Sha256Blocks(fast, bytes.data(), count);
    Sha256BlocksPlain(plain, bytes.data(), count);
    EXPECT_EQ(fast, plain) << count;
  }
}

TEST(Sha256Blocks, TwoInOneLoop_AreTheStatesOfEach) {
  std::mt19937 random(5);
  std::array<std::byte, 9 * kSha256Block> first_bytes;
  std::array<std::byte, 9 * kSha256Block> second_bytes;
  for (size_t i = 0; i < first_bytes.size(); ++i) {
    first_bytes[i] = static_cast<std::byte>(random());
    second_bytes[i] = static_cast<std::byte>(random());
  }
  for (size_t count = 0; count <= 9; ++count) {
    Sha256State first = kSha256Start;
    Sha256State second = {1, 2, 3, 4, 5, 6, 7, 8};  // as in the middle of a message
    Sha256State first_plain = first;
    Sha256State second_plain = second;
    Sha256BlocksOfTwo(first, first_bytes.data(), second, second_bytes.data(), count);
    Sha256BlocksPlain(first_plain, first_bytes.data(), count);
    Sha256BlocksPlain(second_plain, second_bytes.data(), count);
    EXPECT_EQ(first, first_plain) << count;
    EXPECT_EQ(second, second_plain) << count;
  }
}

// `sha256sum` of so many bytes of 7.
TEST(Sha256, LongBytes_AgreeWithTheReference) {
  const Bytes bytes((size_t{3} << 20) + 5, std::byte{7});
  EXPECT_EQ(Sha256Hex(Sha256(bytes)),
            "017b6f47a7a2ec2d8f3c666e017e2328d3541e1c7ec04d43360e9976e850c20d");
}

TEST(Sha256Hasher, AnySplit_EqualsOneShot) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>(i);
  }
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256Hasher hasher;
    hasher.Update(AsBytes(text.substr(0, cut)));
    EXPECT_EQ(hasher.Finish(), Sha256(AsBytes(text.substr(0, cut))));
    hasher.Update(AsBytes(text.substr(cut)));
    EXPECT_EQ(hasher.Finish(), Sha256(AsBytes(text)));
  }
}

}  // namespace
}  // namespace kiln
