// SPDX-License-Identifier: MIT
#include "client/cli/output/depfile.h"

#include <algorithm>
#include <utility>

#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

std::string Escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
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
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
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
