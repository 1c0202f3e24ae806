// SPDX-License-Identifier: MIT
// Sizes and ages as flags and outputs write them. See spec/cli 2
#pragma once

#include <cstdint>
#include <string>

#include "compiler/base/result.h"

namespace kiln::cli {

// As ReadByteSize. Errors: kInvalidArgument naming the text.
Result<uint64_t> ParseSize(const std::string& text);
// "90", "90s", "5m", "3h", "7d" -> seconds. Errors: as above.
Result<uint64_t> ParseAge(const std::string& text);
// "1,234 bytes", "12.3 MiB"
std::string SizeText(uint64_t bytes);

}  // namespace kiln::cli
