// SPDX-License-Identifier: MIT
// Unary calls whose requests have lists: gRPC hands over their bytes, and they are parsed by the
// job that works on them, after a look at what they stand for (messages/parsed_size). So the
// requests that wait are as large as they were sent, and as many are parsed as there are threads.
#pragma once

#include <string_view>
#include <utility>

#include <grpcpp/impl/codegen/proto_utils.h>

#include "server/rpc/messages/wire.h"
#include "server/rpc/reactors/unary_call.h"

namespace kiln::rpc {

// `body`: (CallContext&, const Request&, const cache::Call&, Reply&, v1::ErrorDetail&) ->
// Result<void>. `name` is a literal.
template <class Request, class Reply, class Body>
grpc::ServerUnaryReactor* AnswerBytes(const Host& host, grpc::CallbackServerContext& context,
                                      std::string_view name, const grpc::ByteBuffer& request,
                                      grpc::ByteBuffer& reply, Body body) {
  return AnswerUnary(
      host, context, {.name = name, .needs = Needs::kWork, .held = Holding(request, reply)},
      [&request, &reply, body = std::move(body)](CallContext& frame, const cache::Call& call,
                                                 v1::ErrorDetail& detail) -> Result<void> {
        KILN_TRY(const Request asked, MessageFrom<Request>(request));
        Reply answer;
        KILN_TRY_VOID(body(frame, asked, call, answer, detail));
        bool own = false;
        (void)grpc::SerializationTraits<Reply>::Serialize(answer, &reply, &own);
        return {};
      });
}

}  // namespace kiln::rpc
