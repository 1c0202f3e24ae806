// SPDX-License-Identifier: MIT
#include "server/ops/tcp_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::ops {
namespace {

// A list as the resolver gives it, of addresses of IPv4.
class Addresses {
 public:
  explicit Addresses(const std::vector<std::string>& hosts, uint16_t port = 0)
      : sockets_(hosts.size()), rows_(hosts.size()) {
    for (size_t i = 0; i < hosts.size(); ++i) {
      sockets_[i].sin_family = AF_INET;
      sockets_[i].sin_port = htons(port);
      EXPECT_EQ(inet_pton(AF_INET, hosts[i].c_str(), &sockets_[i].sin_addr), 1);
      rows_[i].ai_family = AF_INET;
      rows_[i].ai_addr = reinterpret_cast<sockaddr*>(&sockets_[i]);
      rows_[i].ai_addrlen = sizeof(sockaddr_in);
      rows_[i].ai_next = i + 1 < hosts.size() ? &rows_[i + 1] : nullptr;
    }
  }
  const addrinfo* first() const { return rows_.data(); }

 private:
  std::vector<sockaddr_in> sockets_;
  std::vector<addrinfo> rows_;
};

// 198.51.100.0/24 and 203.0.113.0/24 are for documentation: no machine has one of these.
TEST(TcpListener, AddressThatTheMachineHasNot_LeavesTheNextOne) {
  const Result<TcpListener> listener =
      TcpListener::ListenOnOne(Addresses({"198.51.100.77", "127.0.0.1"}).first(), "both");
  ASSERT_TRUE(listener.ok()) << listener.error().context;
  EXPECT_TRUE(listener->Address().starts_with("127.0.0.1:"));
}

TEST(TcpListener, NoAddressOfTheMachine_IsTheErrorOfTheFirst) {
  const Result<TcpListener> listener =
      TcpListener::ListenOnOne(Addresses({"198.51.100.77", "203.0.113.77"}).first(), "none");
  ASSERT_FALSE(listener.ok());
  EXPECT_EQ(listener.error().context, "cannot listen on 'none': Cannot assign requested address");
}

TEST(TcpListener, AddressThatIsTaken_IsNotExchangedForAnother) {
  const Result<TcpListener> first =
      TcpListener::ListenOnOne(Addresses({"127.0.0.1"}).first(), "first");
  ASSERT_TRUE(first.ok());
  const std::string address = first->Address();
  const auto port = static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  const Result<TcpListener> second =
      TcpListener::ListenOnOne(Addresses({"127.0.0.1", "127.0.0.2"}, port).first(), "second");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().context, "cannot listen on 'second': Address already in use");
}

}  // namespace
}  // namespace kiln::ops
