// SPDX-License-Identifier: MIT
// A source by the end of its path -> the source in its style.
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/result.h"

namespace kiln::format {

// Errors: kInvalidArgument with "FILE:LINE:COLUMN: text" if it does not parse, or if its language
// has no style.
Result<std::string> FormatFile(const std::string& path, std::string_view text);

}  // namespace kiln::format
