// SPDX-License-Identifier: MIT
// A unix socket that listens, with its directory and lock. Removes the socket when destroyed. See
// spec/daemon 11.2
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compiler/base/files/file_lock.h"
#include "compiler/base/result.h"

namespace kiln::rpc {

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
  UnixListener(std::string path, std::optional<FileLock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  Result<void> Bind(SocketAudience whom);

  const std::string path_;
  const std::optional<FileLock> lock_;  // none: adopted
  int fd_ = -1;
};

}  // namespace kiln::rpc
