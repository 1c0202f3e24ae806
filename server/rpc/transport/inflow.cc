// SPDX-License-Identifier: MIT
#include "server/rpc/transport/inflow.h"

#include <algorithm>
#include <chrono>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace kiln::rpc {

Traffic TrafficOf(int fd) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    return {};
  }
  return {.received = info.tcpi_bytes_received, .taken = info.tcpi_bytes_acked};
}

// Bytes that came in are explained in two ways: a client that takes what we send opens its window
// again, which is a byte for sixteen at most, and one that is there sends pings, which come with
// time. The rest is headers or a message on its way. What was explained once is not saved up: the
// balance never falls below zero.
void Inflow::Look(const Traffic& now, Duration at) {
  using Seconds = std::chrono::duration<double>;
  const uint64_t came = now.received - std::min(seen_.received, now.received);
  const uint64_t taken = now.taken - std::min(seen_.taken, now.taken);
  const double quiet = looked_ == Duration::zero() ? 0 : Seconds(at - looked_).count();
  const uint64_t explained =
      taken / kTakenFor + static_cast<uint64_t>(std::max(quiet, 0.0) * kPingBytes);
  unexplained_ = unexplained_ + came - std::min(unexplained_ + came, explained);
  seen_ = now;
  looked_ = at;
}

}  // namespace kiln::rpc
