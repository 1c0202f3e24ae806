// SPDX-License-Identifier: MIT
// Who stands behind a connection, a call, a job, a failure or a line of a log. Whatever is counted,
// shared, paused or told in turns is so by party, and the owner is one of his own: what others do
// costs him nothing. See spec/daemon 9.4, 10, 11.2–11.4
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::ops {

class Party {
 public:
  enum class Kind : uint8_t {
    kOwner,        // unix socket: the uid of the daemon
    kUser,         // unix socket: another uid
    kToken,        // TCP: a certificate with a token that is known
    kCertificate,  // TCP: a certificate without one
    kHost,         // TCP: nothing is known yet but the address
  };

  Party() = default;  // the owner
  static Party Owner() { return {}; }
  static Party User(std::optional<uint32_t> uid);  // nothing: the kernel did not tell
  static Party Token(std::string_view subject, std::string_view token_id);
  static Party Certificate(std::string_view subject);
  // Of "10.0.0.7:4711" the address; of "[2001:db8::1]:4711" its first 64 bits, which one host has
  // for itself.
  static Party Host(std::string_view address);

  Kind kind() const { return kind_; }
  bool is_owner() const { return kind_ == Kind::kOwner; }
  // Differs for all parties: "owner", "unix:uid=1001", "token:623e… CN=a", "certificate:CN=a",
  // "host:10.0.0.7".
  const std::string& name() const { return name_; }

  friend auto operator<=>(const Party&, const Party&) = default;

 private:
  Party(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  Kind kind_ = Kind::kOwner;
  std::string name_ = "owner";
};

}  // namespace kiln::ops
