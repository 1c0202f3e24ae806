// SPDX-License-Identifier: MIT
// Names of programs with wildcards: '*' any text, '?' one byte. Linear memory, no recursion.
#pragma once

#include <cstddef>
#include <string_view>

namespace kiln::reload {

inline bool GlobMatches(std::string_view glob, std::string_view name) {
  size_t g = 0;
  size_t n = 0;
  size_t star = std::string_view::npos;
  size_t from = 0;  // of the name, where the last star begins to match
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      from = n;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
      ++g;
      ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') {
    ++g;
  }
  return g == glob.size();
}

}  // namespace kiln::reload
