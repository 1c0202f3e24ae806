// SPDX-License-Identifier: MIT
// How many functions a program may have: each takes rows in tables of the link and of every walk,
// so this is looked at before anything is made of the modules. See spec/daemon 10
#pragma once

#include <optional>
#include <span>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/module.h"

namespace kiln::resolve {

// LIM1001 at the first function that is too many, under whatever condition it is declared.
std::optional<Diagnostic> CheckFunctionCount(std::span<const ir::ModuleView> modules,
                                             const LanguageLimits& limits);

}  // namespace kiln::resolve
