// SPDX-License-Identifier: MIT
#include "server/ops/http_listener.h"

#include <arpa/inet.h>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"

namespace kiln::ops {
namespace {

HttpReply Answer(std::string_view path) {
  return path == "/x" ? HttpReply{.status = 200, .body = "yes\n"}
                      : HttpReply{.status = 404, .body = {}};
}

int ConnectTo(const std::string& address) {
  if (address.starts_with("unix:")) {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, address.data() + 5, address.size() - 5);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    return fd;
  }
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  return fd;
}

// Sends the request and reads to the end; closes.
std::string Say(int fd, const std::string& request) {
  EXPECT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string reply;
  char buffer[256];
  for (ssize_t got = 0; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
    reply.append(buffer, static_cast<size_t>(got));
  }
  (void)close(fd);
  return reply;
}

std::string Ask(const std::string& address, const std::string& request) {
  return Say(ConnectTo(address), request);
}

TEST(HttpListener, UnixSocketOfALivingListener_IsLeftToIt) {
  const TestDirectory directory;
  const std::string address = "unix:" + (directory.path() / "metrics.sock").string();
  const std::string get = "GET /x HTTP/1.1\r\n\r\n";
  auto first = HttpListener::Listen(address, Answer);
  ASSERT_TRUE(first.ok()) << first.error().context;
  const auto second = HttpListener::Listen(address, Answer);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().reason, "SOCKET");
  EXPECT_NE(second.error().context.find("another process does"), std::string::npos);
  EXPECT_NE(Ask(address, get).find("yes"), std::string::npos);
}

// What a process that died leaves behind: a socket file, and nobody who accepts.
TEST(HttpListener, UnixSocketThatNobodyServes_IsReplaced) {
  const TestDirectory directory;
  const std::string path = directory.path() / "metrics.sock";
  const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path, path.data(), path.size());
  ASSERT_EQ(bind(dead, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
  (void)close(dead);
  const auto listener = HttpListener::Listen("unix:" + path, Answer);
  ASSERT_TRUE(listener.ok()) << listener.error().context;
  EXPECT_NE(Ask("unix:" + path, "GET /x HTTP/1.1\r\n\r\n").find("yes"), std::string::npos);
}

// With no descriptor left the listener asks ten times a second and not without end: three failures
// take at least two pauses, however busy the machine is. Who waited is served as soon as there are
// some again.
TEST(HttpListener, OutOfDescriptors_WaitsAndServesLater) {
  const auto listener = HttpListener::Listen("127.0.0.1:0", Answer);
  ASSERT_TRUE(listener.ok()) << listener.error().context;
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(fd);  // the lowest that is free
  (void)close(next);
  const rlimit none{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto began = std::chrono::steady_clock::now();
  const std::string address = (*listener)->Address();
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  EXPECT_TRUE(WaitUntil([&] { return (*listener)->failed_accepts() >= 3; }));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(200));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(Say(fd, "GET /x HTTP/1.1\r\n\r\n").substr(0, 15), "HTTP/1.1 200 OK");
}

TEST(HttpListener, Get_AnswersByPath) {
  const auto listener = HttpListener::Listen("127.0.0.1:0", Answer);
  ASSERT_TRUE(listener.ok()) << listener.error().context;
  EXPECT_EQ(Ask((*listener)->Address(), "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n"
            "Connection: close\r\n\r\nyes\n");
  EXPECT_TRUE(Ask((*listener)->Address(), "GET /x?a=b HTTP/1.0\r\n\r\n").ends_with("yes\n"));
  EXPECT_TRUE(Ask((*listener)->Address(), "GET /y HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
}

// A load balancer asks for the head, and an answer that never comes reads as a dead daemon.
TEST(HttpListener, Head_AnswersAsGetWithoutTheBody) {
  const auto listener = HttpListener::Listen("127.0.0.1:0", Answer);
  ASSERT_TRUE(listener.ok()) << listener.error().context;
  EXPECT_EQ(Ask((*listener)->Address(), "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_TRUE(
      Ask((*listener)->Address(), "HEAD /y?a HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
  EXPECT_EQ(Ask((*listener)->Address(), "HEAD x HTTP/1.1\r\n\r\n"), "");
  EXPECT_EQ(Ask((*listener)->Address(), "HEADER /x HTTP/1.1\r\n\r\n"), "");
}

TEST(HttpListener, UnixSocket_IsOfThisUserAndGoes) {
  const TestDirectory directory;
  const std::string path = directory.path() / "m.sock";
  {
    const auto listener = HttpListener::Listen("unix:" + path, Answer);
    ASSERT_TRUE(listener.ok()) << listener.error().context;
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    EXPECT_TRUE(Ask("unix:" + path, "GET /x HTTP/1.1\r\n\r\n").ends_with("yes\n"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(HttpListener, Rubbish_IsClosedAndTheNextOneServed) {
  const auto listener = HttpListener::Listen("127.0.0.1:0", Answer);
  ASSERT_TRUE(listener.ok());
  const std::string address = (*listener)->Address();
  EXPECT_EQ(Ask(address, "POST /x HTTP/1.1\r\n\r\n"), "");
  EXPECT_EQ(Ask(address, std::string("\0\1\2\r\n\r\n", 7)), "");
  const int half = ConnectTo(address);  // says nothing and goes
  (void)close(half);
  EXPECT_TRUE(Ask(address, "GET /x HTTP/1.1\r\n\r\n").ends_with("yes\n"));
}

// As many as it serves at a time and more say nothing, or half of a request; nobody waits for them.
TEST(HttpListener, SilentConnections_DelayNobody) {
  const auto listener = HttpListener::Listen("127.0.0.1:0", Answer);
  ASSERT_TRUE(listener.ok());
  const std::string address = (*listener)->Address();
  std::vector<int> silent;
  const auto begun = std::chrono::steady_clock::now();
  for (size_t i = 0; i < 2 * HttpListener::kMostConnections; ++i) {
    silent.push_back(ConnectTo(address));
    if (i % 2 == 1) {
      EXPECT_EQ(send(silent.back(), "GET /", 5, MSG_NOSIGNAL), 5);
    }
    EXPECT_TRUE(Ask(address, "GET /x HTTP/1.1\r\n\r\n").ends_with("yes\n"));
  }
  // Each had 2 s when they were served one after the other.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
  for (const int fd : silent) {  // each is closed, at the latest when its time is over
    char byte = 0;
    EXPECT_LE(recv(fd, &byte, 1, 0), 0);
    (void)close(fd);
  }
}

TEST(HttpListener, HandlerThatThrows_CostsItsReplyOnly) {
  const auto listener = HttpListener::Listen("127.0.0.1:0", [](std::string_view path) {
    return path == "/x" ? Answer(path) : throw std::runtime_error("a bug");
  });
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(Ask((*listener)->Address(), "GET /y HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 500"));
  EXPECT_TRUE(Ask((*listener)->Address(), "GET /x HTTP/1.1\r\n\r\n").ends_with("yes\n"));
}

TEST(HttpListener, AddressesOpenToOthers_AreRefused) {
  for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
    const auto listener = HttpListener::Listen(address, Answer);
    ASSERT_FALSE(listener.ok()) << address;
    EXPECT_EQ(listener.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(HttpListener::Listen("nonsense", Answer).ok());
}

}  // namespace
}  // namespace kiln::ops
