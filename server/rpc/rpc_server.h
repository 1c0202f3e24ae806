// SPDX-License-Identifier: MIT
// The transport: a unix socket that belongs to this process, connections checked before gRPC sees
// them, health and reflection. gRPC never owns the path: it would take it from a running daemon.
// Spec: daemon §4.7, §11.2
//
// Threads: SetServing from any thread; the rest by the owner.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/result.h"

namespace grpc {
class Service;
}

namespace kiln::rpc {

// A socket that listens, with its directory and lock. Removes the socket when destroyed.
class UnixListener {
 public:
  // Makes the directory 0700 if need be, takes the lock beside the socket, removes a stale socket,
  // binds with mode 0600. Errors: kInvalidArgument for a path of more than 107 bytes;
  // kFailedPrecondition with reason LOCKED naming the pid, or for a directory of somebody else.
  static Result<std::unique_ptr<UnixListener>> Listen(const std::string& path);
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  UnixListener(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  Result<void> Bind();

  const std::string path_;
  const int lock_;
  int fd_ = -1;
};

class RpcServer {
 public:
  // Services, listener and log must outlive the server. Errors: kInternal if gRPC does not start.
  static Result<std::unique_ptr<RpcServer>> Start(const std::vector<grpc::Service*>& services,
                                                  const UnixListener& listener, LogSink& log);
  ~RpcServer();

  void SetServing(bool serving);  // what grpc.health.v1 answers
  void StopAccepting();           // open connections go on
  // Ends open calls, at the latest after `grace` by cancelling them.
  void Shutdown(Duration grace);

 private:
  struct State;
  explicit RpcServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kiln::rpc
