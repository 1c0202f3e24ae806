// SPDX-License-Identifier: MIT
#include "cache/codec.h"

#include <random>

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

Bytes RandomBytes(size_t size) {
  std::mt19937 random(3);
  Bytes bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

// Compressible as shader code is: few distinct words.
Bytes Words(size_t count) {
  std::mt19937 random(5);
  Bytes bytes;
  for (size_t i = 0; i < count; ++i) {
    AppendLittle<uint32_t>(bytes, random() % 97);
  }
  return bytes;
}

TEST(Codec, CompressibleBlob_RoundTrips) {
  const Blob raw = OwnedBlob(Words(4096));
  const Blob stored = Compress(raw);
  EXPECT_EQ(stored.codec, Codec::kZstd);
  EXPECT_EQ(stored.raw_size, raw.bytes.size());
  EXPECT_LT(stored.bytes.size(), raw.bytes.size() / 2);
  const Result<Blob> back = Decompress(stored);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(AsText(back->bytes), AsText(raw.bytes));
  EXPECT_EQ(back->codec, Codec::kRaw);
}

TEST(Codec, SavingLessThanATenth_StaysRaw) {
  EXPECT_EQ(Compress(OwnedBlob(RandomBytes(4096))).codec, Codec::kRaw);
  EXPECT_EQ(Compress(OwnedBlob(Bytes(10))).codec, Codec::kRaw);
  EXPECT_EQ(Compress(OwnedBlob({})).codec, Codec::kRaw);
}

TEST(Codec, RatioThatTheDecoderWouldRefuse_StaysRaw) {
  const Blob raw = OwnedBlob(Bytes(kRatioFreeBytes * 8));
  EXPECT_EQ(Compress(raw).codec, Codec::kRaw);
  EXPECT_TRUE(Decompress(Compress(raw)).ok());
}

TEST(Codec, LyingSizes_AreRefused) {
  Blob stored = Compress(OwnedBlob(Words(4096)));
  const uint64_t honest = stored.raw_size;
  for (const uint64_t lie : {uint64_t{0}, honest - 1, honest + 1, uint64_t{1} << 40}) {
    stored.raw_size = lie;
    const Result<Blob> back = Decompress(stored);
    ASSERT_FALSE(back.ok()) << lie;
    EXPECT_EQ(back.error().code, ErrorCode::kCorrupt) << lie;
  }
}

TEST(Codec, Bomb_IsRefusedBeforeAllocating) {
  Blob stored = Compress(OwnedBlob(Words(64)));
  stored.raw_size = kMaxValueBytes;  // allowed as such, not for so few bytes
  EXPECT_FALSE(Decompress(stored).ok());
}

TEST(Codec, RawOfAnotherSizeThanSaid_IsRefused) {
  Blob raw = OwnedBlob(Words(4));
  raw.raw_size = 15;
  EXPECT_FALSE(Decompress(raw).ok());
}

TEST(Codec, DictionaryOfANewerVersion_IsUnimplemented) {
  Blob stored = OwnedBlob(Words(4));
  stored.codec = Codec::kZstdDictionary;
  EXPECT_EQ(Decompress(stored).error().code, ErrorCode::kUnimplemented);
}

}  // namespace
}  // namespace kiln::cache
