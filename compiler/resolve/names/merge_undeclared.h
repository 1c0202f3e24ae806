// SPDX-License-Identifier: MIT
// A name that is declared nowhere is one mistake of its function, however often it stands there:
// the first mention is reported, with how many more there are.
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

// Leaves the first RPL6001 of each name and function. The count is of the function as it was
// written, so that variants which fail at the same place say the same; names that some local of the
// function may stand for are left as they are. Costs what the modules hold that have such errors.
void MergeUndeclared(const Program& program, std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
