// SPDX-License-Identifier: MIT
// Dependency files for Make and Ninja: what a target was made of. See spec/cli 6.1
#pragma once

#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::cli {

// "target: a b\n" over several lines, with spaces, '#', '$' and ':' as Make and Ninja read them.
// Files are sorted and distinct. Errors: kInvalidArgument with reason USAGE for a name that one of
// them would read as something else, as "x;rm y" is a command for Make.
Result<std::string> DepfileText(const std::string& target, std::vector<std::string> files);

// Errors: as DepfileText and WriteFile.
Result<void> WriteDepfile(const std::string& path, const std::string& target,
                          std::vector<std::string> files);

}  // namespace kiln::cli
