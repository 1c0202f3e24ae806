// SPDX-License-Identifier: MIT
// The system calls of a worker process: a list of what it may do, with what arguments. All others
// end it. See spec/daemon 12.2
#pragma once

#include "compiler/base/result.h"

namespace kiln::worker {

// From now on, for the calling thread and for good. It must have PR_SET_NO_NEW_PRIVS. Errors:
// kFailedPrecondition if the kernel has no seccomp, or nobody has written the list for this
// architecture.
Result<void> AllowWorkerCallsOnly();

}  // namespace kiln::worker
