// SPDX-License-Identifier: MIT
// A listening TCP socket that is owned, by address or as systemd passed it on.
#include "server/ops/tcp_listener.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace kiln::ops {
namespace {

// As many handshakes as may wait while the accepting thread is busy; beyond that the kernel lets
// clients try again.
constexpr int kBacklog = 128;

// Connections keep the packet that began them, from which is counted what newcomers send
// (server/rpc/transport/inflow_bound.h). A kernel that cannot is no reason not to listen.
void KeepFirstPackets(int fd) {
  const int on = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_SAVE_SYN, &on, sizeof(on));
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

Error Wrong(const std::string& address, std::string_view why) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = fmt::format("'{}' is no address to listen on: {}", address, why),
          .reason = "SOCKET"};
}

}  // namespace

Result<TcpListener> TcpListener::Listen(const std::string& address) {
  // The last colon, because an address of IPv6 has more of them; its brackets are taken off for the
  // resolver.
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    return Wrong(address, "write HOST:PORT");
  }
  std::string host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int failed = getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &list);
  if (failed != 0) {
    return Wrong(address, gai_strerror(failed));
  }
  const std::unique_ptr<addrinfo, FreeAddresses> found(list);
  return ListenOnOne(found.get(), address);
}

// A name has several addresses: a resolver tells that of IPv6 for localhost on a machine that has
// no IPv6. The error is that of the first.
Result<TcpListener> TcpListener::ListenOnOne(const addrinfo* list, const std::string& name) {
  int why = 0;
  for (; list != nullptr; list = list->ai_next) {
    const int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    TcpListener listener(fd);
    const int on = 1;
    KeepFirstPackets(fd);
    // SO_REUSEADDR lets a daemon listen again while connections of the last one are still winding
    // down. Of two that run at the same time the second is refused all the same.
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(fd, list->ai_addr, list->ai_addrlen) == 0 && listen(fd, kBacklog) == 0) {
      return Result<TcpListener>(std::move(listener));
    }
    why = why == 0 ? errno : why;
    // One that is taken is meant: another one of its addresses would not be found by anybody.
    if (errno == EADDRINUSE) {
      break;
    }
  }
  return Error{.code = ErrorCode::kFailedPrecondition,
               .context = fmt::format("cannot listen on '{}': {}", name, std::strerror(why)),
               .reason = "SOCKET"};
}

// Takes the descriptor over; -1 is allowed and makes a listener that owns nothing.
TcpListener TcpListener::Adopt(int fd) {
  KeepFirstPackets(fd);
  return TcpListener(fd);
}

TcpListener::TcpListener(TcpListener&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

TcpListener& TcpListener::operator=(TcpListener&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

TcpListener::~TcpListener() {
  if (fd_ >= 0) {
    (void)close(fd_);
  }
}

std::string TcpListener::Address() const {
  // The socket is asked and not the configuration: with port 0 the system has chosen one.
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(),
                  port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  return address.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host.data(), port.data())
                                       : fmt::format("{}:{}", host.data(), port.data());
}

}  // namespace kiln::ops
