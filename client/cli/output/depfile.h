// SPDX-License-Identifier: MIT
// Dependency files for Make and Ninja: what a target was made of. See spec/cli 6.1
#pragma once

#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::cli {

// "target: a b\n" over several lines, with spaces, '#', '$' and backslashes as Make and Ninja read
// them. Files are sorted and distinct.
std::string DepfileText(const std::string& target, std::vector<std::string> files);

// Errors: as WriteFile.
Result<void> WriteDepfile(const std::string& path, const std::string& target,
                          std::vector<std::string> files);

}  // namespace kiln::cli
