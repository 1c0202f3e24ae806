// SPDX-License-Identifier: MIT
// Which of several reasons a command ends with. See spec/cli 4.1
#pragma once

namespace kiln::cli {

// Of two exit codes the one that wins.
int WorseExit(int a, int b);

}  // namespace kiln::cli
