// SPDX-License-Identifier: MIT
// The transport: a unix socket that belongs to this process, TCP behind mutual TLS if it is wanted,
// connections counted and checked before gRPC sees them, health and reflection. gRPC never owns the
// path: it would take it from a running daemon. See spec/daemon 4.7, 10, 11.2, 11.3
//
// Threads: SetServing and SetUpstream from any thread; the rest by the owner.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "server/ops/access.h"
#include "server/ops/tcp_listener.h"
#include "server/rpc/service_limits.h"
#include "server/rpc/transport/connections.h"
#include "server/rpc/transport/tls_files.h"
#include "server/rpc/transport/unix_listener.h"

namespace grpc {
class Service;
}

namespace kiln::rpc {

// What the server listens on, and who may come in. All must outlive it.
struct Doors {
  const UnixListener& unix_socket;
  const UnixListener* owners_socket = nullptr;  // that others do not reach, beside it
  std::vector<uint32_t> allow_uids;             // beside this one
  const ops::TcpListener* tcp = nullptr;
  TlsFiles tls;
  ops::Access& access;
  Connections& connections;
  LogSink& log;
  uint64_t receiving_bytes = 0;  // of messages that are arriving; 0: no bound
  ServiceLimits limits = {};
};

class RpcServer {
 public:
  // Services must outlive the server. Nobody gets in before Accept, and health is NOT_SERVING
  // before SetServing. Errors: kInternal if gRPC does not start.
  static Result<std::unique_ptr<RpcServer>> Start(const std::vector<grpc::Service*>& services,
                                                  const Doors& doors);
  ~RpcServer();

  void Accept();

  void SetServing(bool serving);   // what grpc.health.v1 answers
  void SetUpstream(bool answers);  // and of kiln.upstream, which is not known without this
  void StopAccepting();            // open connections go on
  // Ends open calls, at the latest after `grace` by cancelling them.
  void Shutdown(Duration grace);

 private:
  struct State;
  explicit RpcServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kiln::rpc
