// SPDX-License-Identifier: MIT
#include "server/rpc/transport/user_relay.h"

#include <array>
#include <atomic>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_wait.h"

namespace kiln::rpc {
namespace {

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kBlock = 100;
constexpr uint64_t kMessage = 1000;

// A client, and what gRPC would have of it.
class UserRelayTest : public testing::Test {
 protected:
  UserRelayTest()
      : relay({.block_bytes = kBlock,
               .message_bytes = kMessage,
               .on_flood = [this](const auto&) { ++floods; }},
              log) {
    std::array<int, 2> both{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()), 0);
    client = both[0];
    grpc = relay.Lead(both[1], ops::Party::User(7));
    EXPECT_GE(grpc, 0);
  }
  ~UserRelayTest() override {
    (void)close(client);
    (void)close(grpc);
  }

  static void Send(int fd, const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const ssize_t sent = send(fd, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent > 0) {
        at += static_cast<size_t>(sent);
      } else {
        std::this_thread::yield();
      }
    }
  }
  static std::string Receive(int fd, size_t size) {
    std::string text;
    EXPECT_TRUE(WaitUntil([&] {
      std::string part(size_t{64} << 10, '\0');
      for (ssize_t came = 0; (came = recv(fd, part.data(), part.size(), MSG_DONTWAIT)) > 0;) {
        text.append(part, 0, static_cast<size_t>(came));
      }
      return text.size() >= size;
    })) << text.size()
        << " of " << size;
    return text;
  }
  static bool IsClosed(int fd) {
    char byte = 0;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
  }

  NullLog log;
  std::atomic<int> floods = 0;
  UserRelay relay;
  int client = -1, grpc = -1;
};

TEST_F(UserRelayTest, WhatEachSideSends_ReachesTheOther) {
  Send(client, kPreface);
  EXPECT_EQ(Receive(grpc, kPreface.size()), kPreface);
  Send(grpc, "answer");
  EXPECT_EQ(Receive(client, 6), "answer");
}

// More than all buffers together, to somebody who reads late.
TEST_F(UserRelayTest, LongAnswers_WaitForTheirReader) {
  std::string text(size_t{4} << 20, 'x');
  for (size_t i = 0; i < text.size(); i += 997) {
    text[i] = static_cast<char>('a' + i % 26);
  }
  std::thread sends([&] { Send(grpc, text); });
  EXPECT_TRUE(Receive(client, text.size()) == text);
  sends.join();
}

TEST_F(UserRelayTest, EndOfOneSide_IsTheEndOfTheOther) {
  for (const bool client_first : {true, false}) {
    std::array<int, 2> both{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()), 0);
    const int led = relay.Lead(both[1], ops::Party::User(7));
    Send(led, "last words");
    (void)close(client_first ? both[0] : led);
    const int other = client_first ? led : both[0];
    if (!client_first) {
      EXPECT_EQ(Receive(other, 10), "last words");
    }
    EXPECT_TRUE(WaitUntil([&] { return IsClosed(other); }));
    (void)close(other);
  }
  EXPECT_EQ(floods, 0);
}

TEST_F(UserRelayTest, HeadersWithoutEnd_CostTheConnection) {
  const std::string acknowledgement("\0\0\0\4\1\0\0\0\0", 9);
  const std::string headers("\0\0\x50\1\0\0\0\0\1", 9), continuation("\0\0\x50\x9\0\0\0\0\1", 9);
  Send(client, kPreface + acknowledgement + headers + std::string(0x50, 'h'));
  EXPECT_EQ(Receive(grpc, 24 + 9 + 9 + 0x50).size(), 24u + 9 + 9 + 0x50);
  EXPECT_EQ(floods, 0);
  Send(client, continuation);
  EXPECT_TRUE(WaitUntil([&] { return floods == 1; }));
  EXPECT_TRUE(WaitUntil([&] { return IsClosed(grpc); }));
}

TEST_F(UserRelayTest, MessageThatIsTooLong_CostsTheConnection) {
  const std::string data("\0\0\5\0\0\0\0\0\1\0\0\0\x03\xe8", 14), rest("\0\x03\xe8\0\0\0\0\0\1", 9);
  Send(client, kPreface + data + rest + std::string(1000, 'm'));
  EXPECT_EQ(Receive(grpc, 24 + 14 + 9 + 1000).size(), 24u + 14 + 9 + 1000);
  EXPECT_EQ(floods, 0);
  Send(client, std::string("\0\0\5\0\0\0\0\0\1\0\0\0\x03\xe9", 14));
  EXPECT_TRUE(WaitUntil([&] { return floods == 1; }));
  EXPECT_TRUE(WaitUntil([&] { return IsClosed(grpc); }));
}

// Calls that are begun and reset, on one connection or on many, and calls that are left behind.
TEST_F(UserRelayTest, CallsForNothing_CostAllConnectionsOfTheUserAndAPause) {
  const std::string acknowledgement("\0\0\0\4\1\0\0\0\0", 9);
  const std::string call("\0\0\1\1\4\0\0\0\1h", 10), reset("\0\0\4\3\0\0\0\0\1\0\0\0\0", 13);
  const std::string first = kPreface + acknowledgement;
  size_t came = 0, connections = 0;
  bool refused = false;
  while (!refused && connections < 100) {
    std::array<int, 2> both{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()), 0);
    const int led = relay.Lead(both[1], ops::Party::User(7));
    refused = led < 0;
    ++connections;
    std::string calls = first;
    for (int i = 0; !refused && i < 150; ++i) {
      calls += connections % 2 == 0 ? call + reset : call;
    }
    (void)!send(both[0], calls.data(), refused ? 0 : calls.size(), MSG_NOSIGNAL);
    (void)close(both[0]);
    EXPECT_TRUE(refused || WaitUntil([&] {
                  std::string part(size_t{64} << 10, '\0');
                  const ssize_t size = recv(led, part.data(), part.size(), MSG_DONTWAIT);
                  came += size > 0 ? static_cast<size_t>(size) : 0;
                  return size == 0;
                }));
    (void)close(led);
  }
  EXPECT_TRUE(refused);
  EXPECT_LT(came, 3000 * (call.size() + reset.size()) + connections * first.size());
  EXPECT_TRUE(WaitUntil([&] { return IsClosed(grpc); })) << "a connection of before";
  std::array<int, 2> both{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()), 0);
  const int other = relay.Lead(both[1], ops::Party::User(8));
  EXPECT_GE(other, 0) << "of another user";
  (void)close(both[0]);
  (void)close(other);
}

}  // namespace
}  // namespace kiln::rpc
