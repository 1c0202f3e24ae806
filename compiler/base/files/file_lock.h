// SPDX-License-Identifier: MIT
// A lock among processes: flock of an open file. The kernel gives it up with the process, however
// that ends, so it is never stale; and it belongs to the open file, so closing another descriptor
// of the same file does not give it up, as it would with fcntl. The file stays when the lock goes:
// whoever removed it would race with the next one who takes it.
#pragma once

#include <optional>
#include <sys/types.h>
#include <utility>

#include "compiler/base/files/descriptor.h"

namespace kiln {

// One thread. The lock lasts as long as the object, or what it was moved to.
class FileLock {
 public:
  // Of a file that was opened for it, which it closes; below 0: there is none, and nothing of it
  // can be locked. Nothing is locked yet.
  explicit FileLock(int file) : file_(file) {}

  // Takes the lock, after whoever has it. False: not taken; errno says why. Here and below.
  bool Wait();
  // Takes it unless somebody has it (EWOULDBLOCK).
  bool Try();
  // Whether somebody has it by another open file. Requires: this one has not.
  bool IsHeld();

  // Writes into the file that this process has the lock. The number is for people and messages: who
  // has the lock is told by the lock. Requires: taken.
  bool WriteHolder();
  // What the last one wrote; nullopt if that is no number.
  std::optional<pid_t> ReadHolder() const;

  int file() const { return file_.get(); }

 private:
  Descriptor file_;
};

}  // namespace kiln
