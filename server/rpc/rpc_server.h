// SPDX-License-Identifier: MIT
// The transport: a unix socket that belongs to this process, TCP behind mutual TLS if it is wanted,
// connections counted and checked before gRPC sees them, health and reflection. gRPC never owns the
// path: it would take it from a running daemon. See spec/daemon 4.7, 10, 11.2, 11.3
//
// Threads: SetServing and SetUpstream from any thread; the rest by the owner.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "server/ops/access.h"
#include "server/ops/tcp_listener.h"
#include "server/rpc/connections.h"
#include "server/rpc/service_limits.h"
#include "server/rpc/tls_files.h"

namespace grpc {
class Service;
}

namespace kiln::rpc {

struct Host;

// A socket that listens, with its directory and lock. Removes the socket when destroyed.
class UnixListener {
 public:
  // Who may open the socket: this uid only (directory 0700, socket 0600), or others too, whose uid
  // the server looks at (0711, 0666).
  enum class SocketAudience : uint8_t { kOwner, kNeighbours };
  // Makes the directory if need be, takes the lock beside the socket, removes a socket that nobody
  // answers at, binds. Errors: kInvalidArgument for a path of more than 107 bytes;
  // kFailedPrecondition with reason LOCKED naming the pid, or for a directory of somebody else, of
  // another mode, or behind a symbolic link.
  static Result<std::unique_ptr<UnixListener>> Listen(const std::string& path,
                                                      SocketAudience whom = SocketAudience::kOwner);
  // Of a socket that listens already, as systemd passes it: takes the descriptor, not the path.
  static std::unique_ptr<UnixListener> Adopt(int fd, const std::string& path);
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  UnixListener(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  Result<void> Bind(SocketAudience whom);

  const std::string path_;
  const int lock_;  // below 0: adopted
  int fd_ = -1;
};

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
  const Host* host = nullptr;  // of the services; null: gRPC itself refuses malformed messages
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
