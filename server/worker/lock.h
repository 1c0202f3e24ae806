// SPDX-License-Identifier: MIT
// What a worker process does to itself before it takes work: nothing that it runs later can open,
// connect to, start, signal or outlive anything. See spec/daemon 12.2
#pragma once

#include <cstdint>

#include "compiler/base/result.h"

namespace kiln::worker {

struct ChildLimits {
  uint64_t memory_bytes = uint64_t{1} << 30;
  // Of the process, which the pool replaces in time; what one job may use, the pool watches.
  uint64_t cpu_seconds = 60;
};

// For good, and for a process with one thread: standard streams and the worker's socket stay open,
// soft and hard limits hold, and of system calls only those of a list are left. Errors:
// kFailedPrecondition with reason NOT_CONFINED; whoever gets one must not take work.
Result<void> LockIn(const ChildLimits& limits);

}  // namespace kiln::worker
