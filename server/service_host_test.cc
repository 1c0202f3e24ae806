// SPDX-License-Identifier: MIT
#include "server/service_host.h"

#include <array>
#include <map>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kiln::server {
namespace {

using Variables = std::map<std::string, std::string>;

Environment EnvironmentOf(const Variables& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

// Two sockets side by side that listen (abstract names, so nothing is left behind).
class Sockets : public testing::Test {
 protected:
  Sockets() {
    const int spare = dup(0);  // a gap above which two numbers are free
    first = spare + 20;
    (void)close(spare);
    for (int i = 0; i < 2; ++i) {
      const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(sa_family_t)), 0);
      EXPECT_EQ(listen(fd, 1), 0);
      EXPECT_EQ(dup2(fd, first + i), first + i);
      (void)close(fd);
    }
  }
  ~Sockets() override {
    (void)close(first);
    (void)close(first + 1);
  }
  Result<PassedSockets> Read(const std::string& count, const std::string& names) const {
    return SocketsOf(EnvironmentOf({{"LISTEN_PID", std::to_string(getpid())},
                                    {"LISTEN_FDS", count},
                                    {"LISTEN_FDNAMES", names}}),
                     first);
  }

  int first = 0;
};

TEST_F(Sockets, Names_SayWhichIsWhich) {
  const Result<PassedSockets> passed = Read("2", "metrics:unix");
  ASSERT_TRUE(passed.ok());
  EXPECT_EQ(passed->metrics, first);
  EXPECT_EQ(passed->unix_socket, first + 1);
  EXPECT_LT(passed->tcp, 0);
}

TEST_F(Sockets, OneWithoutName_IsTheUnixSocket) {
  const Result<PassedSockets> passed = SocketsOf(
      EnvironmentOf({{"LISTEN_PID", std::to_string(getpid())}, {"LISTEN_FDS", "1"}}), first);
  ASSERT_TRUE(passed.ok());
  EXPECT_EQ(passed->unix_socket, first);
}

TEST_F(Sockets, WrongOnes_AreRefused) {
  EXPECT_FALSE(Read("2", "unix:unix").ok());
  EXPECT_FALSE(Read("2", "unix:http").ok());
  EXPECT_FALSE(Read("2", "unix").ok());
  EXPECT_FALSE(Read("9", "unix").ok());
  (void)close(first + 1);
  EXPECT_FALSE(Read("2", "unix:tcp").ok());  // does not listen
}

TEST_F(Sockets, OfAnotherProcess_AreIgnored) {
  const Result<PassedSockets> passed =
      SocketsOf(EnvironmentOf({{"LISTEN_PID", "1"}, {"LISTEN_FDS", "1"}}), first);
  ASSERT_TRUE(passed.ok());
  EXPECT_LT(passed->unix_socket, 0);
}

TEST(Notify, SocketOfTheManager_GetsTheState) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(sa_family_t)), 0);
  socklen_t size = sizeof(address);
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::string name(address.sun_path, size - sizeof(sa_family_t));
  name[0] = '@';
  Notify(EnvironmentOf({{"NOTIFY_SOCKET", name}}), "READY=1");
  std::array<char, 64> text{};
  EXPECT_EQ(recv(fd, text.data(), text.size(), MSG_DONTWAIT), 7);
  EXPECT_EQ(std::string(text.data()), "READY=1");
  (void)close(fd);
  Notify(EnvironmentOf({}), "READY=1");  // nobody listens: nothing happens
}

}  // namespace
}  // namespace kiln::server
