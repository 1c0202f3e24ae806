// SPDX-License-Identifier: MIT
// What an operator or function gives for one item of known operands.
#pragma once

#include <span>

#include "compiler/front/wgsl/sema/function.h"
#include "compiler/front/wgsl/sema/scalar.h"

namespace kiln::wgsl::front {

// `scalar` is that of the first operand. Of functions that work item by item; others have a fault.
ScalarResult EvaluateScalar(Function function, ScalarKind scalar, std::span<const Word> operands);

}  // namespace kiln::wgsl::front
