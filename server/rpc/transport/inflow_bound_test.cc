// SPDX-License-Identifier: MIT
#include "server/rpc/transport/inflow_bound.h"

#include <array>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/test_wait.h"
#include "server/ops/tcp_listener.h"
#include "server/rpc/transport/inflow.h"

namespace kiln::rpc {
namespace {

constexpr uint32_t kBound = 1 << 20;
constexpr size_t kAll = 6 * size_t{kBound};
constexpr size_t kSegment = size_t{512} << 10;  // the longest that the kernel makes of some packets

enum class Listener : uint8_t { kKeepsFirstPackets, kForgetsThem };

// Both ends of a connection. What is sent by one and read at the other is compared.
class Link {
 public:
  Link(const char* address, Listener how) {
    Result<ops::TcpListener> listener = ops::TcpListener::Listen(address);
    if (!listener.ok()) {
      return;
    }
    const int off = 0;
    if (how == Listener::kForgetsThem) {
      EXPECT_EQ(setsockopt(listener->fd(), IPPROTO_TCP, TCP_SAVE_SYN, &off, sizeof(off)), 0);
    }
    sockaddr_storage at{};
    socklen_t size = sizeof(at);
    EXPECT_EQ(getsockname(listener->fd(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    there = socket(at.ss_family, SOCK_STREAM, 0);
    EXPECT_EQ(connect(there, reinterpret_cast<sockaddr*>(&at), size), 0);
    here = accept(listener->fd(), nullptr, nullptr);
    for (size_t i = 0; i < kAll; ++i) {
      text_ += static_cast<char>(i * 31 % 251);
    }
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    (void)close(here);
    (void)close(there);
  }

  // As much as goes at the moment.
  void SendAndRead() {
    const ssize_t sent = send(there, text_.data() + sent_, text_.size() - sent_, MSG_DONTWAIT);
    sent_ += sent > 0 ? static_cast<size_t>(sent) : 0;
    std::array<char, 1 << 16> some{};
    ssize_t got = 0;
    while ((got = recv(here, some.data(), some.size(), MSG_DONTWAIT)) > 0) {
      read_.append(some.data(), static_cast<size_t>(got));
    }
  }
  // Packets that the kernel has thrown away.
  uint32_t Dropped() const {
    std::array<uint32_t, SK_MEMINFO_VARS> memory{};
    socklen_t size = sizeof(memory);
    EXPECT_EQ(getsockopt(here, SOL_SOCKET, SO_MEMINFO, memory.data(), &size), 0);
    return memory[SK_MEMINFO_DROPS];
  }
  bool AllCame() {
    return WaitUntil([this] {
             SendAndRead();
             return read_.size() == kAll;
           }) &&
           read_ == text_;
  }

  int here = -1, there = -1;

 private:
  std::string text_, read_;
  size_t sent_ = 0;
};

class InflowBound : public testing::TestWithParam<const char*> {};

TEST_P(InflowBound, WhoSendsMore_IsHeldUntilItIsLifted) {
  Link link(GetParam(), Listener::kKeepsFirstPackets);
  ASSERT_GE(link.here, 0);
  ASSERT_TRUE(BoundInflow(link.here, kBound));
  // What is dropped is sent again and again, and is dropped each time.
  ASSERT_TRUE(WaitUntil([&] {
    link.SendAndRead();
    return link.Dropped() >= 3;
  }));
  const uint64_t came = TrafficOf(link.here).received;
  EXPECT_GE(came, kBound);
  EXPECT_LE(came, kBound + kSegment);
  LiftBound(link.here);
  EXPECT_TRUE(link.AllCame()) << "nothing is missing, and all is in order";
}

TEST_P(InflowBound, WithoutAFirstPacket_ThereIsNone) {
  Link link(GetParam(), Listener::kForgetsThem);
  ASSERT_GE(link.here, 0);
  EXPECT_FALSE(BoundInflow(link.here, kBound));
  LiftBound(link.here);
  EXPECT_TRUE(link.AllCame());
}

TEST_P(InflowBound, WhoSendsLess_NoticesNothing) {
  Link link(GetParam(), Listener::kKeepsFirstPackets);
  ASSERT_GE(link.here, 0);
  ASSERT_TRUE(BoundInflow(link.here, kAll));
  EXPECT_TRUE(link.AllCame());
}

// Of IPv4 and IPv6 those that the machine has.
std::vector<const char*> Families() {
  std::vector<const char*> families = {"127.0.0.1:0"};
  if (ops::TcpListener::Listen("[::1]:0").ok()) {
    families.push_back("[::1]:0");
  }
  return families;
}

INSTANTIATE_TEST_SUITE_P(Addresses, InflowBound, testing::ValuesIn(Families()),
                         [](const auto& row) { return row.param[0] == '[' ? "IPv6" : "IPv4"; });

TEST(BoundInflow, WhatIsNoTcp_HasNone) {
  std::array<int, 2> both{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, both.data()), 0);
  EXPECT_FALSE(BoundInflow(both[0], kBound));
  EXPECT_FALSE(BoundInflow(-1, kBound));
  for (const int fd : both) {
    (void)close(fd);
  }
}

// Headers with nothing in them but what is looked at: `next` of each says what comes behind it.
std::string Ipv4(size_t words) {
  std::string header(words * 4, '\0');
  header[0] = static_cast<char>(0x40 | words);
  return header;
}
std::string Ipv6(int next) {
  std::string header(40, '\0');
  header[0] = 0x60;
  header[6] = static_cast<char>(next);
  return header;
}
std::string Extension(int next, size_t units, int length) {
  std::string header(units * 8, '\0');
  header[0] = static_cast<char>(next);
  header[1] = static_cast<char>(length);
  return header;
}

TEST(SequenceOf, PacketsTable) {
  const std::string tcp("\0\1\0\2\x81\2\3\4\0\0\0\0\0\0\0\0\0\0\0\0", 20);
  constexpr uint32_t kNumber = 0x81020304;
  constexpr int kTcp = IPPROTO_TCP, kHops = IPPROTO_HOPOPTS, kFragment = IPPROTO_FRAGMENT,
                kOptions = IPPROTO_DSTOPTS;
  const struct {
    const char* what;
    std::string packet;
    std::optional<uint32_t> sequence;
  } table[] = {
      {"IPv4", Ipv4(5) + tcp, kNumber},
      {"IPv4 with options", Ipv4(15) + tcp, kNumber},
      {"IPv4, cut off in the number", Ipv4(5) + tcp.substr(0, 7), std::nullopt},
      {"IPv4, cut off in the options", Ipv4(15).substr(0, 40), std::nullopt},
      {"IPv6", Ipv6(kTcp) + tcp, kNumber},
      {"IPv6 with extensions",
       Ipv6(kHops) + Extension(kOptions, 1, 0) + Extension(kTcp, 3, 2) + tcp, kNumber},
      {"IPv6, a fragment, which has no length", Ipv6(kFragment) + Extension(kTcp, 1, 200) + tcp,
       kNumber},
      {"IPv6, cut off", Ipv6(kTcp).substr(0, 39), std::nullopt},
      {"IPv6, cut off in the number", Ipv6(kTcp) + tcp.substr(0, 7), std::nullopt},
      {"IPv6, an extension that is longer than all", Ipv6(kOptions) + Extension(kTcp, 1, 255) + tcp,
       std::nullopt},
      {"IPv6, a chain without an end", Ipv6(kHops) + Extension(kHops, 1, 0), std::nullopt},
      {"nothing", "", std::nullopt},
      {"another version", "\x50" + std::string(60, '\0'), std::nullopt},
  };
  for (const auto& row : table) {
    EXPECT_EQ(SequenceOf(row.packet), row.sequence) << row.what;
  }
}

}  // namespace
}  // namespace kiln::rpc
