// SPDX-License-Identifier: MIT
// Whether a process is there.
#pragma once

#include <sys/types.h>

namespace kiln::cli {

// Also one of another user, which this process may not send signals to.
bool ProcessIsThere(pid_t pid);

}  // namespace kiln::cli
