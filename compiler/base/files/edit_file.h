// SPDX-License-Identifier: MIT
// A file of the user's that gets another text: (path, bytes) -> the file where it lies, with its
// mode. Not for outputs, whose place and mode are kiln's own choice (file.h).
#pragma once

#include <string>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln {

// By way of a NewFile, so that the old text or the new one is there whatever happens. A link stays,
// and what it leads to is changed. Mode and, as far as this user may, owner stay; further names of
// the file (hard links) keep the old text. Errors: as ReadFile.
Result<void> EditFile(const std::string& path, ByteView bytes);

}  // namespace kiln
