// SPDX-License-Identifier: MIT
#include "server/worker/lock.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <unistd.h>

#include "compiler/base/threads/child_process.h"
#include "server/worker/child.h"
#include "server/worker/message.h"
#include "server/worker/system_calls.h"

namespace kiln::worker {
namespace {

constexpr uint64_t kOpenFiles = 16;       // streams, socket, and the payloads of a job
constexpr uint64_t kFileOverhead = 4096;  // of a memory file
constexpr int kParentIsTheSocket = 0;     // whose end it notices

}  // namespace

Result<void> LockIn(const ChildLimits& limits) {
  // Whatever the daemon had open is closed, although all of it is marked to be closed by exec: a
  // library that forgot the mark must not hand its descriptor to hostile code.
  if (::close_range(kWorkerSocket + 1, UINT_MAX, 0) != 0) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = std::string("close_range: ") + std::strerror(errno),
                 .reason = "NOT_CONFINED"};
  }
  // The limits come before the list of system calls, because setting them is a call that the list
  // does not have.
  KILN_TRY_VOID(ConfineProcess({.memory_bytes = limits.memory_bytes,
                                .cpu_seconds = limits.cpu_seconds,
                                .file_bytes = kMaxPayload + kFileOverhead,
                                .open_files = kOpenFiles,
                                .processes = 0},
                               kParentIsTheSocket));
  return AllowWorkerCallsOnly();
}

}  // namespace kiln::worker
