// SPDX-License-Identifier: MIT
// What a program declares and never uses. Said once for a program, whatever its variants:
// everything here is read off the generic IR, and no option has a value. See spec/rpl 13,
// docs/rpl/README.md
//
// Conservative: a name counts as used wherever it is mentioned, under any condition. What another
// program may use is left alone: functions without arguments and results (they may be entry
// points), what modules declare that hold no such function (libraries), buffers of the pass and the
// shared set, and fields with tags. So is every name that begins with '_'.
#pragma once

#include <span>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/specialise/specialise_program.h"

namespace kiln::resolve {

// Diagnostics: RPL7101 to RPL7107, all of them warnings; sorted, at most kMaxDiagnostics.
std::vector<Diagnostic> FindUnused(const Program& program, std::span<const EntryPoint> entries);

}  // namespace kiln::resolve
