// SPDX-License-Identifier: MIT
// The words of a command line, parsed: flags of every verb, and what runs. What verbs are declared
// into; see spec/cli 2, 5
#pragma once

#include <functional>

#include "client/cli/global.h"

namespace kiln::cli {

using Action = std::function<int()>;

// Outlives the parser that verbs are declared in.
struct CommandLine {
  Global global;
  Action chosen;  // of the verb that was asked for; empty: none was
};

}  // namespace kiln::cli
