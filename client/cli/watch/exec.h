// SPDX-License-Identifier: MIT
// The command of `kiln watch --exec`: what changed in its environment -> its exit code. See
// spec/cli 6.5
#pragma once

#include <set>
#include <string>
#include <sys/types.h>

#include "compiler/base/mutex.h"

namespace kiln::cli {

// Commands one after another, by one thread, until another one ends that. Each has a group of
// processes of its own, so it ends with everything that it started.
class WatchCommand {
 public:
  // Waits for `sh -c command`, which writes to this program's output and has the programs in
  // KILN_CHANGED, separated by spaces; where this program reads from a terminal it reads nothing.
  // The environment of this process stays as it is: other threads may read it. Returns 128 + the
  // signal that ended the command, 127 if there was no process for it.
  int Run(const std::string& command, const std::set<std::string>& programs) KILN_EXCLUDES(mutex_);

  // Asks the command that runs to end, if there is one, and makes it end if it has not within a
  // second. From then on Run starts nothing.
  void End() KILN_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  CondVar changed_;
  pid_t runs_ KILN_GUARDED_BY(mutex_) = 0;  // 0: none
  bool ended_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::cli
