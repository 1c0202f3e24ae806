// SPDX-License-Identifier: MIT
// What a connection by TCP has sent that nothing explains. gRPC 1.51 keeps the header block of a
// call until its end has come, however long it is, and shows nobody that it does. While a block
// comes no call can arrive on its connection and no message be read, so the bytes since the last
// one are what such a block may have at most, beside messages on their way. See spec/daemon
// 10, 11.3
#pragma once

#include <cstdint>

#include "compiler/base/clock.h"

namespace kiln::rpc {

// Bytes of a connection since its beginning.
struct Traffic {
  uint64_t received = 0;  // from the other side, be it read or not
  uint64_t taken = 0;     // by the other side
};

// As the kernel counts; nothing for what is no TCP.
Traffic TrafficOf(int fd);

// One thread at a time.
class Inflow {
 public:
  // A client that only listens says so: pings each second, windows that it opens again.
  static constexpr uint64_t kPingBytes = 8;  // a second
  static constexpr uint64_t kTakenFor = 16;  // bytes that it took explain one that it sent

  // A call has arrived, or a message was read: all that had come until then is explained.
  void Heard(const Traffic& now) {
    seen_ = now;
    unexplained_ = 0;
  }
  // `now` is what there is at `at`.
  void Look(const Traffic& now, Duration at);

  uint64_t unexplained() const { return unexplained_; }

 private:
  Traffic seen_;
  Duration looked_{};  // zero: never
  uint64_t unexplained_ = 0;
};

}  // namespace kiln::rpc
