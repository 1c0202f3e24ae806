// SPDX-License-Identifier: MIT
// What daemon and worker process say to each other over a socketpair: a length-prefixed head with
// a text, and a payload in a sealed memfd. Spec: daemon §12.2
//
//   u32 magic "KWK1" | u32 kind | u64 payload bytes | u32 text bytes | text     + one descriptor if
//   there is a payload
//
// Threads: one at a time per socket.
#pragma once

#include <string>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::worker {

enum class MessageKind : uint32_t {
  kJob = 1,       // text: environment and recipe; payload: the input
  kTaken = 2,     // the worker has all of it
  kMade = 3,      // text: report; payload: the result
  kRejected = 4,  // text: report
  kRead = 5,      // text: language and path; payload: a source. Made is what `reading` draws
};

struct Message {
  MessageKind kind = MessageKind::kJob;
  std::string text;
  Bytes payload;
};

inline constexpr auto kFirstKind = static_cast<uint32_t>(MessageKind::kJob);
inline constexpr auto kLastKind = static_cast<uint32_t>(MessageKind::kRead);

inline constexpr size_t kMaxText = size_t{64} << 10;
inline constexpr size_t kMaxPayload = size_t{64} << 20;

// Errors: kUnavailable if the other side is gone; kResourceExhausted above a limit.
Result<void> Send(int socket, const Message& message);
// Waits for ever. Errors: kUnavailable at the end of the stream; kDataLoss for what is no message,
// or a payload that is not sealed.
Result<Message> Receive(int socket);

}  // namespace kiln::worker
