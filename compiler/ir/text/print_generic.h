// SPDX-License-Identifier: MIT
// Text of generic modules. Deterministic: ids are numbered by position in the text. parse_generic.h
// reads what is written here; the grammar is in docs/IR.md.
#pragma once

#include <string>

#include "compiler/ir/module.h"

namespace kiln::ir {

// Requires: VerifyIds has succeeded.
std::string Print(const ModuleView& module);

}  // namespace kiln::ir
