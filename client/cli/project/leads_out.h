// SPDX-License-Identifier: MIT
// Paths that lead out of a folder, as files cannot be named in a project.
#pragma once

#include <filesystem>

namespace kiln::cli {

// Whether a relative path leaves the folder that it is relative to, or is absolute. "..shaders" is
// a name like any other.
bool LeadsOut(const std::filesystem::path& path);

}  // namespace kiln::cli
