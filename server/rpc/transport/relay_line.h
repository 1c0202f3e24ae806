// SPDX-License-Identifier: MIT
// One connection of a relay: what the client sends goes to gRPC through a guard, what gRPC sends
// goes to the client as it is. Neither side is read from while what it sent before is on its way.
#pragma once

#include <array>
#include <cstdint>
#include <poll.h>
#include <span>

#include "compiler/base/bytes.h"
#include "compiler/base/clock.h"
#include "server/rpc/transport/http2_guard.h"

namespace kiln::rpc {

// One thread at a time.
class RelayLine {
 public:
  static constexpr size_t kPart = size_t{64} << 10;  // bytes that are read at once
  // What a client has to take the last bytes after gRPC has closed its side.
  static constexpr Duration kLastBytes = std::chrono::seconds(5);
  static constexpr uint64_t kOpenCalls = 100;  // at once (limits.streams)

  enum class State : uint8_t { kOpen, kEnded, kFlooded };

  // Takes both descriptors, which must not block; closes them when it goes.
  RelayLine(int client, int grpc, Http2Guard guard);
  ~RelayLine();
  RelayLine(const RelayLine&) = delete;
  RelayLine& operator=(const RelayLine&) = delete;

  // What to wait for before the next Move: two entries.
  std::array<pollfd, 2> Awaited() const;
  // gRPC has closed its side: the line ends in kLastBytes at the latest.
  bool IsLingering() const { return out_.ended; }
  // Moves what can be moved without waiting, for a while. The client may reset so many calls.
  State Move(Duration now, uint64_t resets);
  // Calls that came to nothing since the last time: those that were reset, and, of a line that is
  // over, as many as may have been open.
  uint64_t TakeFruitless(State state);

 private:
  struct Direction {
    int from, to;
    Bytes pending = {};
    size_t sent = 0;  // of it
    bool ended = false;

    bool IsFlushed() const { return sent == pending.size(); }
  };
  // False: the guard refused what came.
  bool MoveOne(Direction& direction, Http2Guard* guard);
  static void Send(Direction& direction);

  Http2Guard guard_;
  Direction in_, out_;  // from the client, to the client
  Duration lingers_since_{};
  uint64_t told_ = 0;  // resets
};

}  // namespace kiln::rpc
