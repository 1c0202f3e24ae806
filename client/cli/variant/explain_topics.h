// SPDX-License-Identifier: MIT
// What `kiln explain` tells of a diagnostic and of an option: nothing that was asked before is
// looked at. See spec/cli 6.6
#pragma once

#include <string>

#include "client/cli/variant/variant.h"

namespace kiln::cli {

// The page of a code, which may be named by its symbol, too, or what the reason of an error means.
// Needs no daemon.
int ExplainCode(const Global& global, const std::string& text);

// Who reads an option of a program, what of its targets can depend on it, by what factor it
// multiplies the variants, and what each of its values costs in bytes.
int ExplainOption(const Global& global, const std::string& option,
                  const VariantArguments& arguments);

}  // namespace kiln::cli
