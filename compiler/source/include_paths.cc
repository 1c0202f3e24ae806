// SPDX-License-Identifier: MIT
#include "compiler/source/include_paths.h"

#include <algorithm>

namespace kiln {

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

// The result is kept as text that grows and shrinks by segments. What stands in front of a folder
// cannot be left if it is empty, "." or "..": an absolute or relative root.
std::optional<std::string> FoldPath(std::string_view folder, std::string_view path) {
  std::string out(folder);
  size_t at = 0;
  while (at <= path.size()) {
    const size_t end = std::min(path.find_first_of("/\\", at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    if (segment.empty() && at == 0) {
      return std::nullopt;  // "/x", or nothing
    }
    if (segment == "..") {
      const size_t slash = out.rfind('/');
      const std::string_view last = std::string_view(out).substr(slash + 1);
      if (last.empty() || last == "." || last == "..") {
        return std::nullopt;
      }
      out.resize(slash == std::string::npos ? 0 : std::max<size_t>(slash, out[0] == '/' ? 1 : 0));
    } else if (!segment.empty() && segment != ".") {
      out += out.empty() || out.ends_with('/') ? "" : "/";
      out += segment;
    }
    at = end + 1;
  }
  return out;
}

}  // namespace kiln
