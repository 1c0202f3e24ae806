// SPDX-License-Identifier: MIT
// A word of a command that is run by a shell, or that somebody copies into one.
#pragma once

#include <string>
#include <string_view>

namespace kiln::cli {

// As it is if it has only letters, digits and "_-./:=@%+,", else in single quotes: nothing in it is
// expanded, and it is one word.
std::string ShellWord(std::string_view word);

}  // namespace kiln::cli
