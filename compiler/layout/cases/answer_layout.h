// SPDX-License-Identifier: MIT
// Section `layout` of case files: one block under every rule set. See spec/layout 17.
#pragma once

#include "compiler/base/result.h"
#include "compiler/layout/cases/case_types.h"

namespace kiln::layout {

// What the engine makes of one case, in the shape of its `expect`.
// Errors: kInvalidArgument if it is not a case.
Result<Json> AnswerLayout(const Json& item);

}  // namespace kiln::layout
