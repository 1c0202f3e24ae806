// SPDX-License-Identifier: MIT
// A word quoted for a POSIX shell, for commands that a person pastes and for popen. Only characters
// that no shell treats in a special way anywhere in a word are left bare.
#include "client/cli/output/shell_word.h"

#include <algorithm>

namespace kiln::cli {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./:=@%+,").find(c) != std::string_view::npos;
}

}  // namespace

// Within single quotes nothing is special but the quote itself, which is closed, escaped and opened
// again. The empty word needs its quotes to be a word.
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
