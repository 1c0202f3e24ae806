// SPDX-License-Identifier: MIT
// The address of the other side as one text, from the kernel and from gRPC. It leads from a call to
// its connection.
#include "server/rpc/transport/peer_name.h"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fmt/format.h>

namespace kiln::rpc {
namespace {

// An IPv4 address mapped into IPv6 counts as the IPv4 address; scopes of interfaces do not count.
std::string NameOf(const in6_addr& address, std::string_view port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&address) != 0) {
    (void)inet_ntop(AF_INET, address.s6_addr + 12, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), port);
  }
  (void)inet_ntop(AF_INET6, &address, text.data(), text.size());
  return fmt::format("[{}]:{}", text.data(), port);
}

}  // namespace

std::string PeerNameOf(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
    return {};
  }
  if (peer.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(peer);
    std::array<char, INET_ADDRSTRLEN> text{};
    (void)inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), ntohs(in.sin_port));
  }
  if (peer.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(peer);
    return NameOf(in.sin6_addr, std::to_string(ntohs(in.sin6_port)));
  }
  return {};
}

// Both functions must spell an address in the same way, or a call would not find its connection. So
// an IPv6 address that gRPC names is parsed, and spelled by the function that spells the kernel's.
// Empty for anything but IPv4 and IPv6, such as a unix socket.
std::string PeerNameOf(std::string_view grpc_peer) {
  constexpr std::string_view kFour = "ipv4:", kSix = "ipv6:", kOpen = "%5B", kClose = "%5D";
  if (grpc_peer.starts_with(kFour)) {
    return std::string(grpc_peer.substr(kFour.size()));
  }
  if (!grpc_peer.starts_with(kSix)) {
    return {};
  }
  std::string_view rest = grpc_peer.substr(kSix.size());
  const size_t colon = rest.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  rest = rest.substr(0, colon);
  // gRPC 1.51 escapes the brackets of an address, other versions do not.
  for (const std::string_view open : {kOpen, std::string_view("[")}) {
    rest.remove_prefix(rest.starts_with(open) ? open.size() : 0);
  }
  rest = rest.substr(0, rest.find_first_of("]%"));  // of kClose, or of a scope
  static_assert(kClose.front() == '%');
  in6_addr address{};
  if (inet_pton(AF_INET6, std::string(rest).c_str(), &address) != 1) {
    return {};
  }
  return NameOf(address, port);
}

}  // namespace kiln::rpc
