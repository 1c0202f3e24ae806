// SPDX-License-Identifier: MIT
// `--limit NAME=VALUE` of the command line -> the limits of the language.
#pragma once

#include <span>
#include <string>

#include "compiler/base/language_limits.h"
#include "compiler/base/result.h"

namespace kiln::tool {

// The last of a name counts. Errors: kInvalidArgument, naming the limits or the range of one.
Result<LanguageLimits> ReadLimits(std::span<const std::string> arguments);

}  // namespace kiln::tool
