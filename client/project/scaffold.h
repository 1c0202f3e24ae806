// SPDX-License-Identifier: MIT
// RPL sources -> a manifest to start from, for `kiln init`. Reads the sources as words, not as a
// compiler: which functions can be entry points, which file needs which other, which options there
// are, and what is drawn into. What it guesses wrong is one edit in the file it writes.
// See spec/cli 6.12
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kiln::project {

struct SourceText {
  std::string path;  // relative to the manifest
  std::string text;
};

struct Scaffold {
  std::string manifest;  // TOML
  std::string first;     // name of the first program, or empty
  size_t programs = 0;
  size_t passes = 0;
  size_t options = 0;
  std::vector<std::string> unused;  // sources that no program has
};

// Sources in the order of their paths give the same manifest always.
Scaffold MakeScaffold(const std::string& project, std::span<const SourceText> sources);

}  // namespace kiln::project
