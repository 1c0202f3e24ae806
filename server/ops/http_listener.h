// SPDX-License-Identifier: MIT
// As much of HTTP as a scraper and a health check need: GET or HEAD of a path, one reply, closed.
// Listens on loopback or a unix socket only. Serves a bounded number of connections at a time, each
// with a deadline: one that says nothing delays nobody. See spec/daemon 13.2, 13.3
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/log.h"
#include "compiler/base/result.h"
#include "compiler/base/threads/thread.h"
#include "server/ops/tcp_listener.h"

namespace kiln::ops {

struct HttpReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

class HttpListener {
 public:
  static constexpr size_t kMostConnections = 64;  // one more closes the oldest

  // Runs in the thread of the listener; an empty reply with status 404 for unknown paths.
  using Handler = std::function<HttpReply(std::string_view path)>;

  // "127.0.0.1:9464", "[::1]:0", "unix:PATH" (mode 0600). Errors: kInvalidArgument for an address
  // that is not of this machine alone; as TcpListener::Listen.
  static Result<std::unique_ptr<HttpListener>> Listen(const std::string& address, Handler handler);
  // Of a socket that listens already.
  static Result<std::unique_ptr<HttpListener>> Adopt(int fd, Handler handler);
  ~HttpListener();
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  std::string Address() const;  // with the port that it has
  // How often a connection that waited could not be taken: ten times a second while the process has
  // no descriptors left.
  uint64_t failed_accepts() const { return failed_accepts_; }

 private:
  HttpListener(TcpListener listener, std::string unix_path, Handler handler)
      : listener_(std::move(listener)),
        unix_path_(std::move(unix_path)),
        handler_(std::move(handler)) {}
  struct Connection {
    Connection(int socket, std::chrono::steady_clock::time_point until) : fd(socket), end(until) {}
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    const int fd;
    const std::chrono::steady_clock::time_point end;
    std::string request, reply;
    size_t sent = 0;  // of the reply
    bool is_over = false;
  };
  using ConnectionPtr = std::unique_ptr<Connection>;

  enum class Part : uint8_t { kAll, kHead };  // of a reply

  Result<void> Begin();
  void Serve();
  bool AcceptsNow() const;
  int TimeToNextStep() const;
  void Accept();
  bool GoOn(Connection& connection) const;
  std::string ReplyTo(const std::string& path, Part part) const;

  const TcpListener listener_;
  const std::string unix_path_;  // to be removed; empty for TCP
  const Handler handler_;
  std::vector<ConnectionPtr> open_;  // of the thread; the oldest first
  std::optional<std::chrono::steady_clock::time_point> paused_until_;  // of the thread: no accept
  std::atomic<uint64_t> failed_accepts_{0};
  int wake_ = -1;
  Thread thread_;
};

}  // namespace kiln::ops
