// SPDX-License-Identifier: MIT
// Files named on the command line -> sources.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"
#include "compiler/source/source_file.h"

namespace kiln::tool {

// Reads every file as written; the path is the logical path of messages. Errors: kNotFound or
// kPermissionDenied, naming the file and why.
Result<std::vector<SourceFile>> ReadSources(std::span<const std::string> paths);

// Writes a whole file, by way of a temporary one beside it. Errors: naming the file and why.
Result<void> WriteFile(const std::string& path, ByteView bytes);

}  // namespace kiln::tool
