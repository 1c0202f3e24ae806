// SPDX-License-Identifier: MIT
// Writes dependency files in the form that Make and Ninja read (spec/cli 6.2).
#include "client/cli/output/depfile.h"

#include <algorithm>
#include <utility>

#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

// A backslash itself is left alone: both tools take it literally where none of the other characters
// follows.
std::string Escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    // Make and Ninja agree on these four characters; a path with a line end cannot be written down.
    if (c == '$') {
      text += '$';
    } else if (c == ' ' || c == '#' || c == ':') {
      text += '\\';
    }
    text += c;
  }
  return text;
}

}  // namespace

std::string DepfileText(const std::string& target, std::vector<std::string> files) {
  // One order whatever the order of sources, so that equal dependencies are equal bytes.
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  // A dependency a line, so that the difference of two depfiles can be read.
  std::string text = Escaped(target) + ":";
  for (const std::string& file : files) {
    text += " \\\n  " + Escaped(file);
  }
  return text + "\n";
}

Result<void> WriteDepfile(const std::string& path, const std::string& target,
                          std::vector<std::string> files) {
  const std::string text = DepfileText(target, std::move(files));
  return WriteFile(path, AsBytes(text));
}

}  // namespace kiln::cli
