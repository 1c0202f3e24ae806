// SPDX-License-Identifier: MIT
// Reads the text of a generic module, which print_generic.h writes, so that tests behind the front
// ends can be written in it. The text is trusted to mean something: VerifyIds says whether it does.
#pragma once

#include <string_view>

#include "compiler/base/result.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/module.h"

namespace kiln::ir {

// A generic module without spans. `when` and `when_region` are the same here: `policy` decides
// anew. Errors: kInvalidArgument, with line and reason.
Result<Module> ParseModule(std::string_view text, CutPolicy policy = CutPolicy::kCut);

}  // namespace kiln::ir
