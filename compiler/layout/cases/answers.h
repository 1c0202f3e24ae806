// SPDX-License-Identifier: MIT
// What the engine makes of one case, in the shape of its `expect`. See spec/layout 17.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "compiler/base/result.h"
#include "compiler/layout/cases/case_types.h"

namespace kiln::layout {

// Answers of the three sections. Errors: kInvalidArgument if it is not a case.
Result<Json> AnswerLayout(const Json& item);
Result<Json> AnswerBinding(const Json& item);
Result<Json> AnswerRpl(const Json& item);

// The dumps of a case of a section, one per target.
Result<std::string> DumpBinding(const Json& item);
Result<std::string> DumpRpl(const Json& item);

}  // namespace kiln::layout
