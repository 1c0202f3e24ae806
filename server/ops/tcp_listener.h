// SPDX-License-Identifier: MIT
// "host:port" -> a socket that listens. Never shared with another process: no SO_REUSEPORT.
// See spec/daemon 11.3
#pragma once

#include <netdb.h>
#include <string>

#include "compiler/base/result.h"

namespace kiln::ops {

class TcpListener {
 public:
  // "127.0.0.1:4711", "[::1]:4711", "farm.example:4711"; port 0 takes a free one.
  // Errors: kInvalidArgument if it is not an address; kFailedPrecondition if it is taken.
  static Result<TcpListener> Listen(const std::string& address);
  // On the first of several addresses that this machine has. `name`: of all of them, for messages.
  static Result<TcpListener> ListenOnOne(const addrinfo* list, const std::string& name);
  // Of a socket that listens already, as systemd passes it. Takes the descriptor.
  static TcpListener Adopt(int fd);

  TcpListener() = default;
  TcpListener(TcpListener&& other) noexcept;
  TcpListener& operator=(TcpListener&& other) noexcept;
  ~TcpListener();

  int fd() const { return fd_; }  // below 0: it does not listen
  std::string Address() const;    // "127.0.0.1:4711", with the port that it has

 private:
  explicit TcpListener(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace kiln::ops
