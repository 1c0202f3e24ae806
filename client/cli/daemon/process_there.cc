// SPDX-License-Identifier: MIT
#include "client/cli/daemon/process_there.h"

#include <cerrno>
#include <csignal>

namespace kiln::cli {

// Signal 0 sends nothing and only asks.
bool ProcessIsThere(pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

}  // namespace kiln::cli
