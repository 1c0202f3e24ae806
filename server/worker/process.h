// SPDX-License-Identifier: MIT
// One worker process: started, spoken to, killed. Ends with the object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>

#include "compiler/base/clock.h"
#include "compiler/base/result.h"

namespace kiln::worker {

class Process {
 public:
  // Errors: kUnavailable, with why it does not start.
  // It runs as the calling thread does: one of a thread that is nice is nice for ever.
  static Result<std::unique_ptr<Process>> Start(const std::string& program);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int socket() const { return socket_; }
  pid_t pid() const { return pid_; }
  // Whether there is something to read within the time, or the process is gone.
  bool WaitReadable(Duration time) const;
  // It does nothing until it may go on.
  void Stop() const;
  void Continue() const;
  // SIGTERM, and SIGKILL after 50 ms; waits for the end. What it died of, and the last 16 KiB of
  // what it said: "signal 11 (Segmentation fault)…".
  std::string End();
  uint64_t ResidentBytes() const;
  Duration CpuTime() const;  // since it was started; zero if it is gone

  bool background = false;      // for jobs that nobody waits for
  uint32_t jobs = 0;            // done
  uint64_t first_resident = 0;  // bytes, when it was new

 private:
  Process(pid_t pid, int socket, int errors) : pid_(pid), socket_(socket), errors_(errors) {}

  pid_t pid_;
  int socket_;
  int errors_;  // what it writes to stderr
};

}  // namespace kiln::worker
