// SPDX-License-Identifier: MIT
#include "compiler/base/hash/checksum.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

// Of the reference implementation, `xxhsum -H2` and `-H3`.
TEST(Checksum, KnownVectors_Agree) {
  EXPECT_EQ(Checksum({}).hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(Checksum(AsBytes("void main_vertex (void) {}\n")).hex(),
            "0aef25953033d800bca6c36a9de0ca3d");
  EXPECT_EQ(Checksum64({}), 0x2d06800538d394c2u);
}

// The short form and the wide one meet at 512 bytes.
TEST(Checksum, EveryBitOfEveryLength_Counts) {
  for (const size_t size : {1, 16, 129, 241, 511, 512, 513, 4096}) {
    Bytes bytes(size, std::byte{7});
    const Hash128 sum = Checksum(bytes);
    const uint64_t sum64 = Checksum64(bytes);
    bytes[size / 2] ^= std::byte{1};
    EXPECT_NE(Checksum(bytes), sum) << size;
    EXPECT_NE(Checksum64(bytes), sum64) << size;
  }
}

// `xxhsum -H2` of so many bytes of 7: what is summed in parts is summed as if it were not.
TEST(Checksum, LongBytes_AgreeWithTheReference) {
  const Bytes bytes((size_t{3} << 20) + 5, std::byte{7});
  EXPECT_EQ(Checksum(bytes).hex(), "7b79816ac7d9d3a8845d641522b34267");
}

TEST(ProcessHash, OfThisProcess_IsTheSameAgainAndNoChecksum) {
  const ByteView text = AsBytes("words of a segment");
  EXPECT_EQ(ProcessHash(text), ProcessHash(text));
  EXPECT_NE(ProcessHash(text), Checksum(text));
  EXPECT_NE(Hash64(text), Checksum64(text));
}

}  // namespace
}  // namespace kiln
