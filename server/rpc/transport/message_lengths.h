// SPDX-License-Identifier: MIT
// How long the messages are that a client sends on the streams of one connection, as their own
// heads say. gRPC 1.51 takes a message as far as it comes and looks at its length when all of it is
// there, so whoever announces a gigabyte is given a gigabyte. See spec/daemon 10, 11.3
//
//   DATA frames of a stream, one behind the other:
//   compressed? u8 | length u32, big endian | that many bytes | compressed? u8 | ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "compiler/base/bytes.h"

namespace kiln::rpc {

// One connection; one thread at a time.
class MessageLengths {
 public:
  // Streams in the middle of a message. Some thousand times what may be open: a call that the
  // server ended first leaves its stream behind, and the client need not say more on it.
  static constexpr size_t kMostOpen = 4096;

  explicit MessageLengths(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // The next bytes of a stream's data. False: one of its messages says that it is longer than may
  // be, or too many streams have begun one.
  [[nodiscard]] bool Take(uint32_t stream, ByteView data);
  // There is no more of it: it was ended or reset.
  void End(uint32_t stream) { open_.erase(stream); }

  size_t open() const { return open_.size(); }

 private:
  static constexpr uint8_t kHead = 5;
  // Where a stream is. At the beginning of a message nothing needs to be known.
  struct Place {
    uint8_t head = 0;     // bytes of the head that have come
    uint32_t length = 0;  // as far as the head has come, then what is left of the message
  };

  const uint64_t most_bytes_;
  std::unordered_map<uint32_t, Place> open_;
};

}  // namespace kiln::rpc
