// SPDX-License-Identifier: MIT
#include "server/rpc/transport/http2_guard.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

constexpr uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPushPromise = 5,
                  kContinuation = 9;
constexpr uint8_t kAck = 1, kEndHeaders = 4;
constexpr size_t kMost = 1000;

// Of zero bytes data is messages without content.
std::string Frame(uint8_t type, uint8_t flags, size_t length, char fill = '\0') {
  std::string frame = {static_cast<char>(length >> 16),
                       static_cast<char>(length >> 8),
                       static_cast<char>(length),
                       static_cast<char>(type),
                       static_cast<char>(flags),
                       0,
                       0,
                       0,
                       1};
  return frame + std::string(length, fill);
}

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const std::string kAcknowledgement = Frame(kSettings, kAck, 0);
const std::string kFirst = kPreface + Frame(kSettings, 0, 6);

struct Passed {
  bool ok = true;
  std::string out;
};

Passed Pass(Http2Guard& guard, const std::string& in) {
  Bytes out;
  const bool ok = guard.Take(std::as_bytes(std::span(in)), out);
  return {ok, std::string(reinterpret_cast<const char*>(out.data()), out.size())};
}

Passed Pass(const std::string& in) {
  Http2Guard guard(kMost);
  return Pass(guard, in);
}

TEST(Http2Guard, WhatHoldsToTheBounds_GoesOnAsItIs) {
  const std::string in = kFirst + kAcknowledgement + Frame(kHeaders, kEndHeaders, kMost - 9) +
                         Frame(kData, 0, 100'000) + Frame(kHeaders, 0, 400) +
                         Frame(kContinuation, kEndHeaders, kMost - 400 - 18);
  const Passed passed = Pass(in);
  EXPECT_TRUE(passed.ok);
  EXPECT_EQ(passed.out, in);
}

TEST(Http2Guard, BlocksThatAreTooLong_AreCutOff) {
  const std::string first = kFirst + kAcknowledgement;
  for (const std::string& bad :
       {Frame(kHeaders, kEndHeaders, kMost - 8),
        Frame(kHeaders, 0, 400) + Frame(kContinuation, 0, kMost - 400 - 17),
        Frame(kPushPromise, 0, 1)}) {
    EXPECT_FALSE(Pass(first + bad).ok) << bad.size();
  }
  std::string empty = first + Frame(kHeaders, 0, 0);
  for (size_t i = 0; i < kMost / 9; ++i) {
    empty += Frame(kContinuation, 0, 0);
  }
  EXPECT_FALSE(Pass(empty).ok);
}

TEST(Http2Guard, BlockBeforeTheAcknowledgement_WaitsForIt) {
  Http2Guard guard(kMost);
  const std::string call = Frame(kHeaders, kEndHeaders, 100) + Frame(kData, 1, 50);
  EXPECT_EQ(Pass(guard, kFirst).out, kFirst);
  EXPECT_EQ(Pass(guard, call).out, "");
  EXPECT_EQ(Pass(guard, kAcknowledgement).out, kAcknowledgement + call);
  EXPECT_EQ(Pass(guard, call).out, call);
}

TEST(Http2Guard, SettingsThatAreNoAcknowledgement_LetNothingThrough) {
  Http2Guard guard(kMost);
  EXPECT_EQ(Pass(guard, kFirst + Frame(kHeaders, kEndHeaders, 10)).out, kFirst);
  EXPECT_EQ(Pass(guard, Frame(kSettings, 0, 0) + Frame(kSettings, kAck, 6)).out, "");
}

TEST(Http2Guard, WhoNeverAcknowledges_IsCutOffAtTheBound) {
  Http2Guard guard(kMost);
  const std::string call = Frame(kHeaders, kEndHeaders, 0);
  ASSERT_TRUE(Pass(guard, kFirst + call).ok);
  const size_t left = Http2Guard::kMostHeld - call.size() - 9;
  ASSERT_TRUE(Pass(guard, Frame(kData, 0, left)).ok);
  EXPECT_FALSE(Pass(guard, Frame(kData, 0, 0)).ok);
}

TEST(Http2Guard, ResetsBeyondWhatIsAllowed_DoNotGoOn) {
  Http2Guard guard(kMost);
  const std::string call = Frame(kHeaders, kEndHeaders, 20), reset = Frame(kReset, 0, 4);
  ASSERT_TRUE(Pass(guard, kFirst + kAcknowledgement + call).ok);
  guard.AllowResets(2);
  EXPECT_TRUE(Pass(guard, reset + call + reset).ok);
  EXPECT_EQ(guard.resets(), 2u);
  EXPECT_EQ(guard.calls(), 2u);
  guard.AllowResets(1);
  EXPECT_TRUE(Pass(guard, reset).ok);
  EXPECT_FALSE(Pass(guard, reset).ok);
}

std::string Data(uint8_t flags, const std::string& bytes) {
  return Frame(kData, flags, bytes.size()).substr(0, 9) + bytes;
}

TEST(Http2Guard, MessageThatIsTooLong_DoesNotGoOn) {
  const std::string first = kFirst + kAcknowledgement + Frame(kHeaders, kEndHeaders, 20);
  const std::string longest("\0\0\0\x03\xe8", 5), longer("\0\0\0\x03\xe9", 5);
  const std::string short_one("\0\0\0\0\2hi", 7);
  struct Row {
    std::string frames;
    bool ok;
  };
  const Row rows[] = {
      {Data(0, longest + std::string(1000, 'x')) + Data(1, short_one), true},
      {Data(0, longer), false},
      {Data(0, short_one) + Data(0, short_one + longer), false},
      {Data(0, longer.substr(0, 2)) + Data(0, longer.substr(2)), false},
      // what follows an end or a reset of the stream begins anew
      {Data(1, longest) + Data(0, short_one), true},
      {Data(0, longest) + Frame(kReset, 0, 4) + Data(0, longer), false},
      {Data(0, longest) + Data(1, "") + Data(0, longer), false},
      {Data(0, longest) + Data(0, longer), true},                               // it is content
      {Data(8, std::string("\1", 1) + short_one + "p"), false},                 // padded
      {Frame(kHeaders, kEndHeaders, 30) + Frame(kSettings, 0, 12, 'x'), true},  // no data
  };
  for (const Row& row : rows) {
    Http2Guard guard(kMost, 1000);
    EXPECT_EQ(Pass(guard, first + row.frames).ok, row.ok) << &row - rows;
  }
}

// However the bytes are cut, the same goes on.
TEST(Http2Guard, PiecesOfAnyLength_MakeNoDifference) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string in = kFirst;
    for (int i = 0; i < 20; ++i) {
      const std::vector<std::string> kinds = {Frame(kHeaders, kEndHeaders, random() % 60, 'h'),
                                              Frame(kData, 0, random() % 200),
                                              Frame(kSettings, 0, 6), kAcknowledgement};
      in += kinds[random() % kinds.size()];
    }
    const Passed whole = Pass(in);
    Http2Guard guard(kMost);
    Passed pieces;
    for (size_t at = 0; at < in.size();) {
      const size_t size = 1 + random() % 40;
      const Passed piece = Pass(guard, in.substr(at, size));
      pieces.ok = pieces.ok && piece.ok;
      pieces.out += piece.out;
      at += size;
    }
    EXPECT_TRUE(whole.ok);
    EXPECT_EQ(pieces.ok, whole.ok) << round;
    EXPECT_EQ(pieces.out, whole.out) << round;
  }
}

}  // namespace
}  // namespace kiln::rpc
