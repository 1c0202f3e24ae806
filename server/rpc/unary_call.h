// SPDX-License-Identifier: MIT
// Unary calls: a function over messages -> the reactor that gRPC wants. Spec: daemon §2.2, §2.4
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "cache/store.h"
#include "compiler/base/result.h"
#include "proto/kiln/v1/common.pb.h"
#include "server/rpc/call_frame.h"
#include "server/rpc/host.h"

namespace kiln::rpc {

enum class Needs : uint8_t {
  kWork,          // a job, refused while the daemon drains
  kWorkOrMemory,  // the same, but first the body is asked for what memory has (cache::kAtOnce),
                  // for which no other thread has to wake up
  kNothing,       // answered here, outside of the queue
};

// The body finds the trace id in the detail, and leaves there what an error itself does not know.
using UnaryBody = std::function<Result<void>(const cache::Call&, v1::ErrorDetail&)>;
// For one that wants to know who calls.
using FramedBody = std::function<Result<void>(CallFrame&, const cache::Call&, v1::ErrorDetail&)>;

// `method` must be a literal. `object`: what the audit log names. The body is called before this
// returns, or by a job; messages live until then.
grpc::ServerUnaryReactor* AnswerUnary(const Host& host, grpc::CallbackServerContext& context,
                                      std::string_view method, Needs needs, FramedBody body,
                                      std::string object = {});
grpc::ServerUnaryReactor* AnswerUnary(const Host& host, grpc::CallbackServerContext& context,
                                      std::string_view method, Needs needs, UnaryBody body,
                                      std::string object = {});

}  // namespace kiln::rpc
