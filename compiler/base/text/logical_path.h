// SPDX-License-Identifier: MIT
// Names of sources, as manifests and requests say them: labels that are stored and printed, below
// the root of a project and nowhere else. See spec/daemon 11.6
#pragma once

#include <string_view>

namespace kiln {

// Relative, '/'-separated, 1 to 1,024 bytes of printable UTF-8 (IsPrintable), without empty, '.' or
// '..' segments and backslashes.
bool IsLogicalPath(std::string_view path);

}  // namespace kiln
