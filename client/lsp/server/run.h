// SPDX-License-Identifier: MIT
// A server between two descriptors: `kiln lsp`.
#pragma once

#include <string>

#include "compiler/base/clock.h"

namespace kiln::lsp {

// Serves until `exit` or the end of the input; the exit status. What the peer does not read is not
// kept: nothing more is read until it does.
int Run(int input, int output, Clock& clock, const std::string& version);

}  // namespace kiln::lsp
