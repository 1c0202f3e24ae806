// SPDX-License-Identifier: MIT
// Resources that several typed modules declare under one name, and that are one (Program::FirstOf).
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

// Whether a declaration that is not the first of its name is as the first. Diagnostics: LAY2002,
// LAY2003; what its condition may say.
void CheckRepeated(const Program& program, ir::DeclId repeated, VariantEvaluator& answers,
                   std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
