// SPDX-License-Identifier: MIT
#include "compiler/base/text/logical_path.h"

#include <cstddef>

#include "compiler/base/printable.h"

namespace kiln {
namespace {

// Far below what file systems take, so a path of a source fits behind the path of any folder.
constexpr size_t kMostBytes = 1024;

}  // namespace

// A logical path is compared as text and is in keys, so it has one spelling: no ".", no "..", no
// doubled or leading slash, and no backslash, which would be a separator on another system.
bool IsLogicalPath(std::string_view path) {
  if (path.empty() || path.size() > kMostBytes || path.find('\\') != std::string_view::npos ||
      !IsPrintable(path)) {
    return false;
  }
  for (std::string_view rest = path;;) {
    const size_t slash = rest.find('/');
    const std::string_view segment = rest.substr(0, slash);
    if (segment.empty() || segment == "." || segment == "..") {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace kiln
