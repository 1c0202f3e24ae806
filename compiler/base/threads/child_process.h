// SPDX-License-Identifier: MIT
// Processes of kiln's own that read what nobody trusts, from both sides: how they are started, and
// what they do to themselves before they read anything. See spec/daemon 12
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "compiler/base/result.h"

namespace kiln {

struct ChildProgram {
  struct Descriptor {
    int from = -1;  // of this process
    int to = -1;    // of the child
  };
  std::string path;
  std::vector<std::string> words;       // of its command line, the first included
  std::vector<Descriptor> descriptors;  // no `from` is the `to` of a row before it
};

// Starts a program without environment, without blocked, ignored or handled signals, and with
// those descriptors alone; 0 to 2 are /dev/null if they are not among them. The caller waits for
// the process. Errors: kUnavailable.
Result<pid_t> StartChild(const ChildProgram& program);

// Soft and hard limit alike: the process cannot raise them again. Nothing: as it was.
struct ProcessLimits {
  std::optional<uint64_t> memory_bytes;  // address space; not in builds with a sanitizer
  std::optional<uint64_t> cpu_seconds;
  std::optional<uint64_t> file_bytes;  // of any file it writes
  std::optional<uint64_t> open_files;
  std::optional<uint64_t> processes;  // of the user, which it may not add to
};

// For the child, as the first thing it does: it dies with the thread that started it, gains no
// privileges, leaves no core, and keeps the limits. `parent`: who started it, 0 if that is not
// known. Errors: kFailedPrecondition if any of that does not work, or the parent is gone.
Result<void> ConfineProcess(const ProcessLimits& limits, pid_t parent);

}  // namespace kiln
