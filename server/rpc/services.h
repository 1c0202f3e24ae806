// SPDX-License-Identifier: MIT
// The services of a daemon, as gRPC wants them. Headers of gRPC stay in the .cc files.
#pragma once

#include <memory>

#include "server/rpc/compile_calls.h"
#include "server/rpc/host.h"

namespace grpc {
class Service;
}

namespace kiln::rpc {

// Host and engine must outlive the services, and the services the server that they run in. The
// engine may come later, in this place (DeferredEngine): CallContext lets no call through to it
// before the state is Ready.
std::shared_ptr<grpc::Service> MakeCompileService(const Host& host, Engine& engine);
std::shared_ptr<grpc::Service> MakeBatchService(const Host& host, Engine& engine);
std::shared_ptr<grpc::Service> MakeWatchService(const Host& host, Engine& engine);
std::shared_ptr<grpc::Service> MakePackService(const Host& host, Engine& engine);
std::shared_ptr<grpc::Service> MakeCacheService(const Host& host, Engine& engine);
std::shared_ptr<grpc::Service> MakeAdminService(const Host& host, Engine& engine);

// Takes up the batches of the process before; once, before anybody calls.
void RestoreBatches(Engine& engine);

}  // namespace kiln::rpc
