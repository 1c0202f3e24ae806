// SPDX-License-Identifier: MIT
#include "compiler/base/hash/digests_of.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/threads/stop.h"

namespace kiln {
namespace {

Bytes RandomBytes(std::mt19937& random, size_t size) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

// The library hashes one content at a time, and is what the two lanes are compared with.
void ExpectAsOneByOne(const std::vector<Bytes>& contents) {
  const std::vector<ByteView> views(contents.begin(), contents.end());
  std::vector<Digest> digests(views.size());
  DigestsOf(views, digests);
  for (size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ(digests[i], DigestOf(views[i]))
        << i << " of " << views.size() << ", " << views[i].size() << " bytes";
  }
}

TEST(DigestsOf, AnyNumberOfContents_GivesTheDigestOfEach) {
  std::mt19937 random(1);
  for (size_t count = 0; count <= 7; ++count) {
    std::vector<Bytes> contents;
    for (size_t i = 0; i < count; ++i) {
      contents.push_back(RandomBytes(random, random() % 4000));
    }
    ExpectAsOneByOne(contents);
  }
}

// Where the mark and the length fit behind the rest, and where they take a block of their own.
TEST(DigestsOf, EveryLengthOfTheLastBlock_GivesTheDigestOfEach) {
  std::mt19937 random(2);
  for (size_t size = 0; size <= 130; ++size) {
    ExpectAsOneByOne({RandomBytes(random, size), RandomBytes(random, 130 - size)});
    ExpectAsOneByOne({RandomBytes(random, size), RandomBytes(random, size)});
  }
}

TEST(DigestsOf, EqualContents_HaveEqualDigests) {
  const Bytes bytes(1000, std::byte{7});
  ExpectAsOneByOne({bytes, bytes, bytes});
}

TEST(DigestsOf, LongContents_AreStoppedBetweenParts) {
  SystemClock clock;
  std::stop_source stop;
  stop.request_stop();
  const Bytes bytes(3 * kPartBytes);
  const ByteView views[] = {bytes, bytes};
  Digest digests[2];
  const StopScope scope({.stop = stop.get_token()}, clock);
  EXPECT_THROW(DigestsOf(views, digests), Stopped);
}

}  // namespace
}  // namespace kiln
