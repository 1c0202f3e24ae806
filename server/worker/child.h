// SPDX-License-Identifier: MIT
// A worker process: takes recipes from a socket until it closes. It has no environment, no network,
// opens no files, and dies with the daemon; one that cannot be locked in says so and takes none.
// See spec/daemon 12.1, 12.2
#pragma once

#include "server/worker/lock.h"

namespace kiln::worker {

// The word on the command line that makes a program a worker, and the descriptor it finds.
inline constexpr char kWorkerFlag[] = "--worker";
inline constexpr int kWorkerSocket = 3;

// The exit code of the process.
int RunChild(int socket, const ChildLimits& limits = {});

}  // namespace kiln::worker
