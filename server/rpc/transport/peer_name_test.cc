// SPDX-License-Identifier: MIT
#include "server/rpc/transport/peer_name.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

TEST(PeerName, OfACall_IsThatOfItsSocket) {
  struct Row {
    const char *grpc, *name;
  };
  for (const Row& row :
       {Row{"ipv4:10.0.0.7:4711", "10.0.0.7:4711"}, Row{"ipv6:%5B::1%5D:4711", "[::1]:4711"},
        Row{"ipv6:[2001:db8::1]:4711", "[2001:db8::1]:4711"},
        Row{"ipv6:%5Bfe80::1%252%5D:7", "[fe80::1]:7"},
        Row{"ipv6:%5B::ffff:10.0.0.7%5D:7", "10.0.0.7:7"}, Row{"unix:", ""}, Row{"ipv6:", ""},
        Row{"ipv6:%5B", ""}, Row{"", ""}}) {
    EXPECT_EQ(PeerNameOf(std::string_view(row.grpc)), row.name) << row.grpc;
  }
}

TEST(PeerName, OfASocket_IsItsOtherEnd) {
  const int listener = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  at.sin6_addr = in6addr_loopback;
  socklen_t size = sizeof(at);
  if (bind(listener, reinterpret_cast<sockaddr*>(&at), size) != 0) {
    GTEST_SKIP() << "no IPv6 here";
  }
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size), 0);
  const int client = socket(AF_INET6, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&at), size), 0);
  EXPECT_EQ(PeerNameOf(client), "[::1]:" + std::to_string(ntohs(at.sin6_port)));
  EXPECT_EQ(PeerNameOf(listener), "");
  EXPECT_EQ(PeerNameOf(-1), "");
  (void)close(client);
  (void)close(listener);
}

}  // namespace
}  // namespace kiln::rpc
