// SPDX-License-Identifier: MIT
// What a client sends, looked at frame by frame on its way to gRPC. gRPC 1.51 keeps a block of
// headers (HEADERS and CONTINUATION frames) until its end has come, however long it is, and holds
// to the length of headers that it told a client only once the client has acknowledged its
// settings. So a block is cut off here by its bytes, and no block goes on before that
// acknowledgement: it overtakes the block if it comes after it. Calls that their
// client resets cost gRPC more than him, long before anybody sees them, so they are counted here,
// and more than he may make do not go on; nor does a message whose head says that it is longer than
// may be (message_lengths.h). Nothing else is changed: frames that break the rules of HTTP/2 are
// gRPC's to refuse. See spec/daemon 10, 11.3
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "compiler/base/bytes.h"
#include "server/rpc/transport/message_lengths.h"

namespace kiln::rpc {

// One connection; one thread at a time. The memory of a guard is bounded by kMostHeld and by
// MessageLengths::kMostOpen.
class Http2Guard {
 public:
  // Bytes before the acknowledgement: the first window of a connection is 64 KiB.
  static constexpr size_t kMostHeld = size_t{128} << 10;

  // Of one block, with the heads of its frames; of one message.
  explicit Http2Guard(size_t block_bytes,
                      uint64_t message_bytes = std::numeric_limits<uint64_t>::max())
      : most_in_block_(block_bytes), messages_(message_bytes) {}

  // So many calls more may be reset.
  void AllowResets(uint64_t count) { most_resets_ = resets_ + count; }
  uint64_t resets() const { return resets_; }
  uint64_t calls() const { return calls_; }  // that were begun

  // Appends to `out` what may go on by now. False: the client does not hold to the bounds, and its
  // connection is to be closed.
  [[nodiscard]] bool Take(ByteView in, Bytes& out);

 private:
  static constexpr size_t kPreface = 24;  // "PRI * HTTP/2.0…"
  static constexpr size_t kHead = 9;      // of a frame

  bool TakeHead(Bytes& out);
  bool BeginBlock(uint8_t type, uint32_t length);
  bool BeginFrame(uint8_t type, uint8_t flags, uint32_t length);
  bool TakePayload(ByteView bytes, Bytes& out);
  bool Append(ByteView bytes, Bytes& out);

  const size_t most_in_block_;
  size_t left_ = kPreface;  // of the preface, then of the payload of a frame
  std::array<std::byte, kHead> head_{};
  size_t head_size_ = 0;
  size_t block_ = 0;  // bytes of the block that comes
  uint64_t calls_ = 0;
  uint64_t resets_ = 0;
  uint64_t most_resets_ = std::numeric_limits<uint64_t>::max();
  bool acknowledged_ = false;
  bool holds_ = false;
  bool passes_ = false;  // the frame at hand overtakes what is held
  MessageLengths messages_;
  uint32_t stream_ = 0;       // of the frame at hand
  bool is_data_ = false;      // the frame at hand has bytes of messages
  bool ends_stream_ = false;  // behind its payload
  Bytes held_;
};

}  // namespace kiln::rpc
