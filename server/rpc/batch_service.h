// SPDX-License-Identifier: MIT
// Batches over the wire: started, watched, paused, listed. What a stream of events holds is bounded
// by its reader. See spec/daemon 4.2, 7
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
std::shared_ptr<grpc::Service> MakeBatchService(const Host& host, Engine& engine);

// Takes up the batches of the process before; once, before anybody calls.
void RestoreBatches(Engine& engine);

}  // namespace kiln::rpc
