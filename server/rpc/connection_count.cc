// SPDX-License-Identifier: MIT
#include "server/rpc/connection_count.h"

#include <sys/stat.h>

namespace kiln::rpc {
namespace {

// 0 if the descriptor is closed.
ino_t SocketOf(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

}  // namespace

void ConnectionCount::Sweep() {
  std::erase_if(open_, [](const auto& row) { return SocketOf(row.first) != row.second; });
}

bool ConnectionCount::Add(int fd) {
  const MutexLock lock(mutex_);
  open_.erase(fd);  // the number was free: what had it is closed
  if (open_.size() >= max_) {
    Sweep();
  }
  if (open_.size() >= max_) {
    return false;
  }
  open_.emplace(fd, SocketOf(fd));
  return true;
}

size_t ConnectionCount::Count() {
  const MutexLock lock(mutex_);
  Sweep();
  return open_.size();
}

}  // namespace kiln::rpc
