// SPDX-License-Identifier: MIT
// Files named on the command line -> sources.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/source/source_file.h"

namespace kiln::tool {

// Reads every file as written; the path is the logical path of messages. Errors: kNotFound or
// kPermissionDenied, naming the file and why.
Result<std::vector<SourceFile>> ReadSources(std::span<const std::string> paths);

}  // namespace kiln::tool
