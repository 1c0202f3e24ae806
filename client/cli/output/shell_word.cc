// SPDX-License-Identifier: MIT
#include "client/cli/output/shell_word.h"

#include <algorithm>

namespace kiln::cli {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./:=@%+,").find(c) != std::string_view::npos;
}

}  // namespace

std::string ShellWord(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, IsPlain)) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string_view("'\\''") : std::string_view(&c, 1);
  }
  return quoted + "'";
}

}  // namespace kiln::cli
