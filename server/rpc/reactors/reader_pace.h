// SPDX-License-Identifier: MIT
// Whether the reader of a stream keeps up: when messages were handed to the transport and when it
// took them -> too slow or not. A stream on which nothing waits is never slow. See spec/daemon 9.6
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/base/clock.h"

namespace kiln::rpc {

class ReaderPace {
 public:
  static constexpr Duration kNoProgress = std::chrono::seconds(60);
  static constexpr Duration kWindow = std::chrono::seconds(30);
  static constexpr uint64_t kBytesPerSecond = 1024;

  // A message of `bytes` is handed over at `now`.
  void Begin(size_t bytes, Duration now) {
    if (!waits_) {  // the reader had caught up
      window_began_ = now;
      taken_ = 0;
    }
    waits_ = true;
    writing_ = true;
    began_ = now;
    bytes_ = bytes;
  }
  // The transport has taken it.
  void End() {
    writing_ = false;
    taken_ += bytes_;
  }
  // Nothing waits for the reader any more.
  void CaughtUp() { waits_ = false; }

  // How much of the message at hand has gone is not known; it counts in full. Moves the window on.
  bool IsTooSlow(Duration now) {
    if (!writing_) {
      return false;
    }
    if (now - began_ > kNoProgress) {
      return true;
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - window_began_);
    if (seconds < kWindow) {
      return false;
    }
    if (taken_ + bytes_ < kBytesPerSecond * static_cast<uint64_t>(seconds.count())) {
      return true;
    }
    window_began_ = began_;
    taken_ = 0;
    return false;
  }

 private:
  bool waits_ = false;    // there are data that the reader has not got
  bool writing_ = false;  // a message is with the transport
  Duration began_{};      // that message
  uint64_t bytes_ = 0;    // its size
  Duration window_began_{};
  uint64_t taken_ = 0;  // bytes since then
};

}  // namespace kiln::rpc
