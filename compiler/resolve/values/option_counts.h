// SPDX-License-Identifier: MIT
// How many options a program may have, and values an enum: what follows takes a step for each of
// them wherever one is named, so this is looked at before anything is made of the modules.
#pragma once

#include <span>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/module.h"

namespace kiln::resolve {

// Diagnostics: RPL2010, LIM1001.
std::vector<Diagnostic> CheckOptionCounts(std::span<const ir::ModuleView> modules,
                                          const LanguageLimits& limits);

}  // namespace kiln::resolve
