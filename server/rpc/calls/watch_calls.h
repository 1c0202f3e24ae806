// SPDX-License-Identifier: MIT
// WatchService without the transport: messages of a client -> requests of server/reload, events ->
// messages. See spec/daemon 8.3
#pragma once

#include <vector>

#include "proto/kiln/v1/watch.pb.h"
#include "server/ops/access.h"
#include "server/reload/subscriptions.h"
#include "server/rpc/calls/compile_calls.h"

namespace kiln::rpc {

// All of these: kInvalidArgument for what is malformed; kResourceExhausted; kFailedPrecondition
// with SOURCES_MISSING, `detail` lists them.
Result<reload::OpenRequest> OpenFrom(Engine& engine, const v1::WatchRequest::Open& open,
                                     const ops::Principal& who, const cache::Call& call,
                                     v1::ErrorDetail& detail);
Result<reload::PushedChange> PushFrom(Engine& engine, const v1::WatchRequest::Push& push,
                                      const cache::Call& call, v1::ErrorDetail& detail);
Result<std::vector<reload::Interest>> InterestFrom(
    const google::protobuf::RepeatedPtrField<v1::Variant>& variants);

// With the bytes of artifacts, if they are wanted, fit, and are still there.
void ToProto(Engine& engine, const reload::Event& event, bool inline_data, v1::WatchEvent& out);

}  // namespace kiln::rpc
