// SPDX-License-Identifier: MIT
// What daemon and worker process say to each other over a socketpair: a length-prefixed head with
// a text, and a payload in a sealed memfd. See spec/daemon 12.2
//
//   u32 magic "KWK1" | u32 kind | u64 payload bytes | u32 text bytes | text     + one descriptor if
//   there is a payload
//
// Threads: one at a time per socket.
#pragma once

#include <optional>
#include <string>

#include "compiler/base/bytes.h"
#include "compiler/base/clock.h"
#include "compiler/base/result.h"

namespace kiln::worker {

enum class MessageKind : uint32_t {
  kJob = 1,       // text: environment and recipe; payload: the input
  kTaken = 2,     // the worker has all of it
  kMade = 3,      // text: report; payload: the result
  kRejected = 4,  // text: report
  kRead = 5,      // text: language and path; payload: a source. Made is what `reading` draws
  kUnfit = 6,     // text: why the worker takes no work and ends
};

struct Message {
  MessageKind kind = MessageKind::kJob;
  std::string text;
  Bytes payload;
};

inline constexpr auto kFirstKind = static_cast<uint32_t>(MessageKind::kJob);
inline constexpr auto kLastKind = static_cast<uint32_t>(MessageKind::kUnfit);

inline constexpr size_t kMaxText = size_t{64} << 10;
inline constexpr size_t kMaxPayload = size_t{64} << 20;

// How long the other side may take for one message; nothing: for ever.
using Patience = std::optional<Duration>;

// Errors: kUnavailable if the other side is gone, or does not take the message in time;
// kResourceExhausted above a limit.
Result<void> Send(int socket, const Message& message, Patience patience = {});
// Errors: kUnavailable at the end of the stream, or if not all of the message comes in time;
// kDataLoss for a malformed message, a payload that is not sealed, or descriptors that nobody asked
// for, which are closed.
Result<Message> Receive(int socket, Patience patience = {});

}  // namespace kiln::worker
