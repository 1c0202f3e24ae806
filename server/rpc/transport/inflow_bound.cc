// SPDX-License-Identifier: MIT
// The filter of five instructions that holds a connection, and the packet that it counts from.
#include "server/rpc/transport/inflow_bound.h"

#include <array>
#include <cerrno>
#include <limits>
#include <linux/filter.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>

namespace kiln::rpc {
namespace {

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();
constexpr size_t kSequence = 4;  // its place in a header of TCP

size_t ByteAt(std::string_view packet, size_t at) { return static_cast<uint8_t>(packet[at]); }

// Extensions stand between the header of IPv6 and that of TCP, in a chain of any length: each says
// what comes behind it and how long it is. A client may send some to go without a bound, so all are
// walked that the kernel takes; each has eight bytes at least, so that the walk ends.
size_t TcpInIpv6(std::string_view packet) {
  constexpr size_t kHeader = 40, kNext = 6, kUnit = 8;
  if (packet.size() < kHeader) {
    return kNowhere;
  }
  size_t at = kHeader;
  for (size_t next = ByteAt(packet, kNext); next != IPPROTO_TCP;) {
    if (packet.size() < at + kUnit) {
      return kNowhere;
    }
    // That of a fragment has no length: where others have it there may be anything.
    const size_t more = next == IPPROTO_FRAGMENT ? 0 : ByteAt(packet, at + 1);
    next = ByteAt(packet, at);
    at += (more + 1) * kUnit;
  }
  return at;
}

// As the kernel kept it when the connection began; empty if it did not. It tells once, and how much
// room that takes if there was too little.
std::string FirstPacket(int fd) {
  std::string packet(256, '\0');
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto size = static_cast<socklen_t>(packet.size());
    const int failed = getsockopt(fd, IPPROTO_TCP, TCP_SAVED_SYN, packet.data(), &size);
    packet.resize(failed == 0 || errno == EINVAL ? size : 0);
    if (failed == 0) {
      return packet;
    }
  }
  return {};
}

}  // namespace

std::optional<uint32_t> SequenceOf(std::string_view packet) {
  constexpr size_t kWord = 4;  // what a header of IPv4 counts its length in
  if (packet.empty()) {
    return std::nullopt;
  }
  const size_t first = ByteAt(packet, 0), version = first >> 4;
  const size_t tcp = version == 4   ? (first & 15) * kWord
                     : version == 6 ? TcpInIpv6(packet)
                                    : kNowhere;
  if (tcp == kNowhere || packet.size() < tcp + kSequence + sizeof(uint32_t)) {
    return std::nullopt;
  }
  uint32_t sequence = 0;
  for (size_t i = 0; i < sizeof(sequence); ++i) {
    sequence = sequence << 8 | static_cast<uint32_t>(ByteAt(packet, tcp + kSequence + i));
  }
  return sequence;
}

// The filter of a socket of TCP sees packets from the header of TCP on. What it drops is not
// acknowledged, so the other side keeps it and sends it again. Numbers are subtracted modulo 2^32:
// a connection whose first number is close to the largest one is measured like any other. What
// repeats the first byte, as a sign of life does, is at distance zero.
bool BoundInflow(int fd, uint32_t bytes) {
  const std::optional<uint32_t> first = SequenceOf(FirstPacket(fd));
  if (!first.has_value()) {
    return false;
  }
  constexpr uint32_t kWhole = std::numeric_limits<uint32_t>::max();  // bytes of it that are kept
  std::array<sock_filter, 5> code = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kSequence),
      BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, *first),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, bytes, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, kWhole),
  }};
  const sock_fprog program{.len = code.size(), .filter = code.data()};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

void LiftBound(int fd) {
  const int nothing = 0;  // the kernel asks for one
  (void)setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &nothing, sizeof(nothing));
}

}  // namespace kiln::rpc
