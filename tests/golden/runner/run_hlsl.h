// SPDX-License-Identifier: MIT
// Goldens of HLSL: the stages of one module before it is one.
#pragma once

#include <string>

#include "compiler/base/result.h"
#include "tests/golden/runner/golden_case.h"

namespace kiln::golden {

// What the stage prints, then the report of all that was found up to it. Errors: kInvalidArgument
// if a word or the stage is unknown; kNotFound.
Result<std::string> RunHlsl(const GoldenCase& golden);

}  // namespace kiln::golden
