// SPDX-License-Identifier: MIT
// Who calls, by the way that the connection came in (rpc_server.cc) and what the call brings along.
// See spec/daemon 11.2–11.4
#pragma once

#include <string>
#include <string_view>

#include <grpcpp/security/auth_context.h>
#include <grpcpp/server_context.h>

#include "server/ops/access.h"

namespace kiln::rpc {

// Of the authentication context of a neighbour's connection: the number of its user.
inline constexpr const char* kNeighbourProperty = "kiln_neighbour";

// "Bearer kiln_…" -> the token; empty for anything else.
std::string BearerOf(std::string_view authorization);

ops::Caller CallerOf(const grpc::CallbackServerContext& context);

// Of a call by TCP, from its headers alone; the address is not known then.
ops::Caller TcpCallerOf(const grpc::AuthContext& context, std::string_view authorization);

}  // namespace kiln::rpc
