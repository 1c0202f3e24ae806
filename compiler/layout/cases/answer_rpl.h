// SPDX-License-Identifier: MIT
// Section `rpl` of case files: modules under policy rpl, on Vulkan and WebGPU. See spec/layout 17.
#pragma once

#include <string>

#include "compiler/base/result.h"
#include "compiler/layout/cases/case_types.h"

namespace kiln::layout {

// What the engine makes of one case, in the shape of its `expect`.
// Errors: kInvalidArgument if it is not a case.
Result<Json> AnswerRpl(const Json& item);

// The dumps of a case, one per target.
Result<std::string> DumpRpl(const Json& item);

}  // namespace kiln::layout
