// SPDX-License-Identifier: MIT
#include "cache/compression/codec.h"

#include <algorithm>
#include <random>
#include <stop_token>
#include <vector>

#include <gtest/gtest.h>

#include "cache/compression/zstd_parts.h"
#include "compiler/base/clock.h"
#include "compiler/base/threads/stop.h"

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

// Both directions in parts, and none of them alone tells what the whole is.
TEST(Codec, LongBlob_RoundTripsWithAndWithoutADictionary) {
  std::vector<Bytes> samples;
  for (size_t i = 0; i < 40; ++i) {
    samples.push_back(Words(8000 + i));
  }
  const DictionaryPtr dictionary = Dictionary::Make(TrainDictionary(samples, 16 << 10));
  ASSERT_NE(dictionary, nullptr);
  for (const size_t size : {kPartBytes + 4, kLongFrame - 4, kLongFrame, 2 * kLongFrame + 12}) {
    const Blob raw = OwnedBlob(Words(size / 4));
    for (const DictionaryPtr& with : {DictionaryPtr(), dictionary}) {
      const Blob stored = with == nullptr ? Compress(raw) : Compress(raw, *with);
      EXPECT_EQ(stored.codec, with == nullptr ? Codec::kZstd : Codec::kZstdDictionary);
      EXPECT_LT(stored.bytes.size(), raw.bytes.size() / 2);
      const Result<Blob> back = Decompress(stored, with.get());
      ASSERT_TRUE(back.ok()) << back.error().context;
      EXPECT_TRUE(std::ranges::equal(back->bytes, raw.bytes)) << size;
    }
  }
}

TEST(Codec, LongBlobThatIsCutOffOrLies_IsRefused) {
  const Blob honest = Compress(OwnedBlob(Words(kLongFrame / 2)));
  ASSERT_EQ(honest.codec, Codec::kZstd);
  for (const size_t cut : {size_t{1}, size_t{1000}, honest.bytes.size() / 2}) {
    Blob stored = honest;
    stored.bytes = stored.bytes.first(stored.bytes.size() - cut);
    EXPECT_EQ(Decompress(stored).error().code, ErrorCode::kCorrupt) << cut;
  }
  for (const int64_t lie : {-1, 1, 1 << 20}) {
    Blob stored = honest;
    stored.raw_size += static_cast<uint64_t>(lie);
    EXPECT_EQ(Decompress(stored).error().code, ErrorCode::kCorrupt) << lie;
  }
  Bytes more(honest.bytes.begin(), honest.bytes.end());
  Append(more, AsBytes("no frame"));
  Blob stored = honest;
  stored.bytes = more;
  EXPECT_EQ(Decompress(stored).error().code, ErrorCode::kCorrupt);
}

TEST(Codec, LongBlobThatNobodyWaitsFor_IsLeft) {
  const Blob raw = OwnedBlob(Words(kLongFrame / 4));
  const Blob stored = Compress(raw);
  SystemClock clock;
  std::stop_source source;
  source.request_stop();
  const StopScope scope({.stop = source.get_token()}, clock);
  EXPECT_THROW((void)Compress(raw), Stopped);
  EXPECT_THROW((void)Decompress(stored), Stopped);
}

TEST(Codec, SavingLessThanATenth_StaysRaw) {
  EXPECT_EQ(Compress(OwnedBlob(RandomBytes(4096))).codec, Codec::kRaw);
  EXPECT_EQ(Compress(OwnedBlob(Bytes(10))).codec, Codec::kRaw);
  EXPECT_EQ(Compress(OwnedBlob({})).codec, Codec::kRaw);
}

// What compresses better than readers accept is as small as they accept, and no smaller.
TEST(Codec, RatioThatTheDecoderWouldRefuse_IsMadeOneItTakes) {
  const DictionaryPtr dictionary =
      Dictionary::Make(TrainDictionary(std::vector<Bytes>(40, Words(8000)), 16 << 10));
  for (const size_t size : {kRatioFreeBytes, kRatioFreeBytes + 1, kRatioFreeBytes + 8,
                            kRatioFreeBytes * 2 + 99, kLongFrame, kLongFrame * 8}) {
    const Blob raw = OwnedBlob(Bytes(size));
    for (const DictionaryPtr& with : {DictionaryPtr(), dictionary}) {
      const Blob stored = with == nullptr ? Compress(raw) : Compress(raw, *with);
      EXPECT_NE(stored.codec, Codec::kRaw) << size;
      EXPECT_LE(stored.bytes.size(), size / kMaxRatio + 8) << size;
      const Result<Blob> back = Decompress(stored, with.get());
      ASSERT_TRUE(back.ok()) << size << ": " << back.error().context;
      EXPECT_TRUE(std::ranges::equal(back->bytes, raw.bytes)) << size;
    }
  }
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

TEST(Codec, RoomForALongFrame_IsMadeInParts) {
  for (const size_t size : {size_t{0}, size_t{1}, kPartBytes, 3 * kPartBytes + 5}) {
    EXPECT_EQ(RoomInParts(size), Bytes(size)) << size;
  }
  std::stop_source stop;
  stop.request_stop();
  SystemClock clock;
  const StopScope scope({.stop = stop.get_token()}, clock);
  EXPECT_NO_THROW(RoomInParts(kPartBytes));
  EXPECT_THROW(RoomInParts(kLongFrame), Stopped);
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
