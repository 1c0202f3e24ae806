// SPDX-License-Identifier: MIT
// Help for what specialising found wrong: the nearest name of every kind, and what authors of other
// languages write (spellings.def). It is added once, to what a variant says, so that specialising a
// good variant costs nothing, and a source with any number of wrong names costs what is shown of
// it.
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

// Names that are compared with wrong ones for one variant; after so many, messages go without.
inline constexpr size_t kMostCompared = 1 << 15;

// Adds notes and fixes to `diagnostics`. A function of the program and of them: no option value.
void Advise(const Program& program, std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
