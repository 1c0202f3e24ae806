// SPDX-License-Identifier: MIT
// A worker process: takes recipes from a socket until it closes. It has no environment, no network,
// opens no files, and dies with the daemon. Spec: daemon §12.1, §12.2
#pragma once

#include <cstdint>

namespace kiln::worker {

// The word on the command line that makes a program a worker, and the descriptor it finds.
inline constexpr char kWorkerFlag[] = "--worker";
inline constexpr int kWorkerSocket = 3;

struct ChildLimits {
  uint64_t memory_bytes = uint64_t{1} << 30;
  uint64_t cpu_seconds = 30;  // of one job
};

// The exit code of the process.
int RunChild(int socket, const ChildLimits& limits = {});

}  // namespace kiln::worker
