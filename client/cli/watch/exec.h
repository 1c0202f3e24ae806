// SPDX-License-Identifier: MIT
// The command of `kiln watch --exec`: what changed in its environment -> its exit code. See
// spec/cli 6.5
#pragma once

#include <set>
#include <string>

namespace kiln::cli {

// Waits for `sh -c command`, which writes to this program's output and has the programs in
// KILN_CHANGED, separated by spaces. The environment of this process stays as it is: other threads
// may read it. Returns 128 + the signal that ended the command, 127 if there was no process for it.
int RunCommand(const std::string& command, const std::set<std::string>& programs);

}  // namespace kiln::cli
