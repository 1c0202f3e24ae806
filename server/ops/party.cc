// SPDX-License-Identifier: MIT
// A party is whoever shares of the daemon are divided among (spec/daemon 9): a user, a token with
// its certificate, a certificate alone, or a host of which nothing more is known. Its name is the
// key of tables and appears in logs.
#include "server/ops/party.h"

#include <arpa/inet.h>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace kiln::ops {
namespace {

// "[2001:db8::1]:4711" -> "2001:db8::/64"; nothing for any other text.
std::optional<std::string> NetworkOf(std::string_view address) {
  const size_t end = address.find_first_of("]%");
  if (!address.starts_with('[') || end == std::string_view::npos) {
    return std::nullopt;
  }
  in6_addr number{};
  if (inet_pton(AF_INET6, std::string(address.substr(1, end - 1)).c_str(), &number) != 1) {
    return std::nullopt;
  }
  // A host has 2^64 addresses of IPv6 for itself: each of them as a party of its own would be a way
  // around every share.
  std::memset(number.s6_addr + 8, 0, 8);
  std::array<char, INET6_ADDRSTRLEN> text{};
  (void)inet_ntop(AF_INET6, &number, text.data(), text.size());
  return fmt::format("{}/64", text.data());
}

}  // namespace

Party Party::User(std::optional<uint32_t> uid) {
  return {Kind::kUser, uid.has_value() ? fmt::format("unix:uid={}", *uid) : "unix:uid=unknown"};
}

Party Party::Token(std::string_view subject, std::string_view token_id) {
  return {Kind::kToken, fmt::format("token:{} {}", token_id, subject)};
}

Party Party::Certificate(std::string_view subject) {
  return {Kind::kCertificate, fmt::format("certificate:{}", subject)};
}

// The port is left out: each connection of a host has another one.
Party Party::Host(std::string_view address) {
  const std::string_view host = address.substr(0, address.rfind(':'));
  return {Kind::kHost, fmt::format("host:{}", NetworkOf(address).value_or(std::string(host)))};
}

}  // namespace kiln::ops
