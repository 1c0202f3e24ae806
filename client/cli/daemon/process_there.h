// SPDX-License-Identifier: MIT
// Whether a process is there.
#pragma once

#include <sys/types.h>

namespace kiln::cli {

// Also one of another user, which this process may not send signals to; not one that has ended and
// that its parent has not asked for yet.
bool ProcessIsThere(pid_t pid);

}  // namespace kiln::cli
