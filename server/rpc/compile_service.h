// SPDX-License-Identifier: MIT
// Sources in, variants out: the service that most clients need. Requests that memory answers are
// answered in gRPC's thread. See spec/daemon 4.1
//
// Threads: the service is used by gRPC alone, in its threads.
#pragma once

#include <memory>

namespace grpc {
class Service;
}

namespace kiln::rpc {

struct Engine;
struct Host;

// Both must outlive the service, and the service the server that it runs in. The engine may come
// later, in this place (DeferredEngine): no call gets to it before the state is Ready.
std::shared_ptr<grpc::Service> MakeCompileService(const Host& host, Engine& engine);

}  // namespace kiln::rpc
