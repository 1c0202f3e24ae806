// SPDX-License-Identifier: MIT
// Unary calls: a function -> the reactor that gRPC wants. gRPC keeps request and
// reply until the client has taken the reply, which a client can put off for ever: such calls share
// a room with slow streams, and end after a time. See spec/daemon 2.2, 2.4, 9.6
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "cache/store.h"
#include "compiler/base/result.h"
#include "proto/kiln/v1/common.pb.h"
#include "server/rpc/reactors/call_context.h"
#include "server/rpc/reactors/host.h"

namespace kiln::rpc {

enum class Needs : uint8_t {
  kWork,          // a job, refused while the daemon drains
  kWorkOrMemory,  // the same, but first the body is asked for what memory has (cache::kAtOnce),
                  // for which no other thread has to wake up
  kNothing,       // answered here, outside of the queue; by a job if the body says NeedsWork
};

// What a body says that was asked here and now (cache::kAtOnce) and that a job has to do.
inline constexpr std::string_view kNeedsWork = "NEEDS_WORK";
inline Error NeedsWork() {
  return {.code = ErrorCode::kUnavailable, .context = "a job", .reason = std::string(kNeedsWork)};
}

// The bytes of messages that a call keeps until its reply is taken, as they are then.
using HeldBytes = std::function<uint64_t()>;

inline HeldBytes Holding(const grpc::ByteBuffer& request, const grpc::ByteBuffer& reply) {
  return [&request, &reply] { return uint64_t{request.Length()} + reply.Length(); };
}

// So much a call may keep without being counted: most keep less.
inline constexpr uint64_t kUncountedReply = uint64_t{8} << 10;

struct UnaryMethod {
  std::string_view name;  // a literal
  Needs needs = Needs::kWork;
  HeldBytes held;
};

// The body finds the trace id in the detail, and leaves there what an error itself does not know.
using UnaryBody = std::function<Result<void>(const cache::Call&, v1::ErrorDetail&)>;
// For one that wants to know who calls.
using FramedBody = std::function<Result<void>(CallContext&, const cache::Call&, v1::ErrorDetail&)>;

// The body is called before this returns, or by a job, or both; messages live until then, and until
// the call is over.
grpc::ServerUnaryReactor* AnswerUnary(const Host& host, grpc::CallbackServerContext& context,
                                      UnaryMethod method, FramedBody body);
grpc::ServerUnaryReactor* AnswerUnary(const Host& host, grpc::CallbackServerContext& context,
                                      UnaryMethod method, UnaryBody body);

}  // namespace kiln::rpc
