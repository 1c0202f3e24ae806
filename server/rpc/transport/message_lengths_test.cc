// SPDX-License-Identifier: MIT
#include "server/rpc/transport/message_lengths.h"

#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

constexpr uint64_t kMost = 100'000;

std::string Head(uint32_t length, bool compressed = false) {
  return {static_cast<char>(compressed ? 1 : 0), static_cast<char>(length >> 24),
          static_cast<char>(length >> 16), static_cast<char>(length >> 8),
          static_cast<char>(length)};
}
std::string Message(uint32_t length) { return Head(length) + std::string(length, '\xff'); }

bool Take(MessageLengths& lengths, uint32_t stream, const std::string& data) {
  return lengths.Take(stream, AsBytes(data));
}

TEST(MessageLengths, LongestAndOneLonger) {
  struct Row {
    std::string data;
    bool ok;
  };
  const Row rows[] = {
      {"", true},
      {Message(0), true},
      {Message(kMost), true},
      {Head(kMost), true},
      {Head(kMost + 1), false},
      {Head(UINT32_MAX), false},
      {Head(kMost, true), true},
      {Head(kMost + 1, true), false},
      {Message(0) + Message(7) + Message(0) + Message(kMost), true},
      {Message(0) + Message(7) + Head(kMost + 1), false},
      {Head(kMost + 1).substr(0, 4), true},  // nobody knows yet
  };
  for (const Row& row : rows) {
    MessageLengths lengths(kMost);
    EXPECT_EQ(Take(lengths, 1, row.data), row.ok) << row.data.substr(0, 20);
  }
}

// However the bytes are cut, and whatever comes on other streams in between.
TEST(MessageLengths, PiecesOfAnyLength_MakeNoDifference) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::array<std::string, 3> data;
    for (std::string& of_stream : data) {
      for (int i = 0; i < 5; ++i) {
        of_stream += Message(random() % 300);
      }
    }
    data[1] += Head(kMost + 1);
    MessageLengths lengths(kMost);
    bool refused = false;
    std::array<size_t, 3> at{};
    while (!refused && at[1] < data[1].size()) {
      const size_t stream = random() % data.size();
      const size_t size = 1 + random() % 40;
      const std::string piece =
          data[stream].substr(std::min(at[stream], data[stream].size()), size);
      at[stream] += piece.size();
      refused = !Take(lengths, static_cast<uint32_t>(2 * stream + 1), piece);
    }
    EXPECT_TRUE(refused) << round;
    EXPECT_EQ(at[1], data[1].size()) << "by the last byte of the head: " << round;
  }
}

TEST(MessageLengths, StreamsThatBeganAMessage_AreBounded) {
  MessageLengths lengths(kMost);
  for (uint32_t stream = 0; stream < MessageLengths::kMostOpen; ++stream) {
    ASSERT_TRUE(Take(lengths, stream, stream % 2 == 0 ? Head(1) : "\1"));
  }
  EXPECT_TRUE(Take(lengths, 99'999, Message(5))) << "it began none that is open";
  EXPECT_TRUE(Take(lengths, 0, "x")) << "it ended one";
  lengths.End(1);
  EXPECT_EQ(lengths.open(), MessageLengths::kMostOpen - 2);
  EXPECT_TRUE(Take(lengths, 1, Head(1)));
  EXPECT_TRUE(Take(lengths, 0, Head(1)));
  EXPECT_FALSE(Take(lengths, 99'999, Head(1)));
}

// Numbers of streams are not used again, but who does shall not go on where another one ended.
TEST(MessageLengths, EndOfAStream_IsTheEndOfItsMessage) {
  MessageLengths lengths(kMost);
  EXPECT_TRUE(Take(lengths, 1, Head(50)));
  lengths.End(1);
  EXPECT_FALSE(Take(lengths, 1, Head(kMost + 1)));
}

}  // namespace
}  // namespace kiln::rpc
