// SPDX-License-Identifier: MIT
// Unary calls: gRPC hands over the bytes of their requests. They are parsed once it is known that
// the caller may call, after a look at what they stand for (messages/parsed_size), and by the job
// that works on them. So the requests that wait are as large as they were sent, and as many are
// parsed as there are threads.
#pragma once

#include <string_view>
#include <utility>

#include "cache/decorators/memory_store.h"
#include "server/rpc/messages/wire.h"
#include "server/rpc/reactors/unary_call.h"

namespace kiln::rpc {

// A longer request is parsed by a job, also of a method that is answered in gRPC's thread.
inline constexpr size_t kMostAtOnce = size_t{64} << 10;

// `body`: (CallContext&, Request, const cache::Call&, Reply&, v1::ErrorDetail&) -> Result<void>.
// `name` is a literal.
template <class Request, class Reply, class Body>
grpc::ServerUnaryReactor* AnswerBytes(const Host& host, grpc::CallbackServerContext& context,
                                      std::string_view name, const grpc::ByteBuffer& request,
                                      grpc::ByteBuffer& reply, Body body,
                                      Needs needs = Needs::kWork) {
  return AnswerUnary(
      host, context, {.name = name, .needs = needs, .held = Holding(request, reply)},
      [&request, &reply, body = std::move(body)](CallContext& frame, const cache::Call& call,
                                                 v1::ErrorDetail& detail) -> Result<void> {
        if (call.deadline == cache::kAtOnce && request.Length() > kMostAtOnce) {
          return NeedsWork();
        }
        KILN_TRY(Request asked, MessageFrom<Request>(request));
        Reply answer;
        KILN_TRY_VOID(body(frame, std::move(asked), call, answer, detail));
        WriteTo(answer, reply);
        return {};
      });
}

}  // namespace kiln::rpc
