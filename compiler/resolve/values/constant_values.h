// SPDX-License-Identifier: MIT
// Declared constants beyond the value of a scalar: those of a written type (constructors of
// vectors, matrices and arrays over compile-time scalars, one interned constant of the pool each),
// and what is wrong with a declaration. See spec/rpl 14.5
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/values/value_evaluator.h"

namespace kiln::resolve {

class VariantEvaluator;

// The value of a constant for which Program::IsComposite holds; invalid if it failed, which is said
// if `diagnostics` is given. Requires: the constants before it that it names are known.
ir::ConstId ReadComposite(VariantEvaluator& answers, ir::DeclId constant,
                          std::vector<Diagnostic>* diagnostics);

// Adds what is wrong with a declaration of a constant that is in this state.
void ReportConstant(VariantEvaluator& answers, ir::DeclId constant, const ConstantState& state,
                    std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
