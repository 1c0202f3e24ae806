// SPDX-License-Identifier: MIT
// Bytes that are no message of the type that a method takes: gRPC itself refuses such calls before
// kiln sees them, with UNIMPLEMENTED and nothing else. This makes INVALID_ARGUMENT of it, with the
// detail, the log line and the permissions of any other call. Methods that read bytes themselves
// (wire.h) do not need it. See spec/daemon 2.3, 2.4
#pragma once

#include <memory>

#include <grpcpp/support/server_interceptor.h>

#include "server/rpc/reactors/host.h"

namespace kiln::rpc {

// The host must outlive the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> RefusesMalformed(
    const Host& host);

}  // namespace kiln::rpc
