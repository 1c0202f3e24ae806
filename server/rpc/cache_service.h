// SPDX-License-Identifier: MIT
// Content and rows by digest and key, for other daemons and for clients that keep some of their
// own. See spec/daemon 4.5
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
std::shared_ptr<grpc::Service> MakeCacheService(const Host& host, Engine& engine);

}  // namespace kiln::rpc
