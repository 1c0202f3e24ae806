// SPDX-License-Identifier: MIT
// Macros that a source asked for, among the paths of its probes (probe.h). A request may choose
// values of macros; which of them a source reads is found as it is found which files it includes,
// and so a macro is asked for under a path that no include can have: includes fold to paths without
// empty segments (include_paths.h).
#pragma once

#include <string>
#include <string_view>

namespace kiln {

inline constexpr std::string_view kMacroRoot = "//";

// "//SHADOWS".
inline std::string MacroPath(std::string_view name) {
  return std::string(kMacroRoot) + std::string(name);
}
inline bool IsMacroPath(std::string_view path) { return path.starts_with(kMacroRoot); }
// Requires: IsMacroPath.
inline std::string_view MacroOfPath(std::string_view path) {
  return path.substr(kMacroRoot.size());
}

}  // namespace kiln
