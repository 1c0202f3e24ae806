// SPDX-License-Identifier: MIT
// What an include may mean: paths as text, and the order in which they are tried. See spec/hlsl 4.2
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// "a/b" of "a/b/c.hlsl"; empty if it is in no folder.
std::string_view FolderOf(std::string_view path);

// `path` seen from `folder`: '\' counts as '/', '.' and '..' are folded, but `folder` is taken as
// it is written. Nothing if it leaves the root: more '..' than folders, or an absolute path.
std::optional<std::string> FoldPath(std::string_view folder, std::string_view path);

}  // namespace kiln
