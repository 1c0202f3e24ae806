// SPDX-License-Identifier: MIT
#include "compiler/base/files/file_lock.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace kiln {

bool FileLock::Wait() {
  // A signal that ends the waiting is no answer: the turn still comes.
  int taken = -1;
  do {
    taken = ::flock(file_.get(), LOCK_EX);
  } while (taken != 0 && errno == EINTR);
  return taken == 0;
}

bool FileLock::Try() { return ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0; }

// A shared lock that is granted proves that nobody has the exclusive one, and two who ask at once
// do not take each other for its holder.
bool FileLock::IsHeld() {
  if (::flock(file_.get(), LOCK_SH | LOCK_NB) == 0) {
    (void)::flock(file_.get(), LOCK_UN);
    return false;
  }
  return errno == EWOULDBLOCK;
}

bool FileLock::WriteHolder() {
  const std::string text = std::to_string(::getpid()) + "\n";
  return ::ftruncate(file_.get(), 0) == 0 &&
         ::pwrite(file_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

std::optional<pid_t> FileLock::ReadHolder() const {
  std::array<char, 24> text{};
  const ssize_t size = ::pread(file_.get(), text.data(), text.size(), 0);
  pid_t pid = 0;
  if (size <= 0 || std::from_chars(text.data(), text.data() + size, pid).ec != std::errc()) {
    return std::nullopt;
  }
  return pid;
}

}  // namespace kiln
