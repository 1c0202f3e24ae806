// SPDX-License-Identifier: MIT
// What a golden gives: the dump of its stage, then its diagnostics as a person reads them.
#pragma once

#include <string>

#include "compiler/base/result.h"
#include "tests/golden/runner/golden_case.h"

namespace kiln::golden {

// Errors: kInvalidArgument if the stage or a word of the first line is unknown.
Result<std::string> RunStage(const GoldenCase& golden);

}  // namespace kiln::golden
