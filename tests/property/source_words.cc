// SPDX-License-Identifier: MIT
#include "tests/property/source_words.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace kiln::property {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What stands in quotes before a comment begins. Escapes only make other words of it.
void AddQuoted(const std::string& line, std::set<std::string>& words) {
  size_t at = 0;
  while ((at = line.find_first_of("\"/", at)) != std::string::npos) {
    if (line.compare(at, 2, "//") == 0) {
      return;
    }
    const size_t end = line[at] == '"' ? line.find('"', at + 1) : at;
    if (end == std::string::npos) {
      return;
    }
    if (end > at + 1) {
      words.insert(line.substr(at + 1, end - at - 1));
    }
    at = end + 1;
  }
}

}  // namespace

std::vector<std::string> WordsOfTables(std::string_view folder) {
  std::set<std::string> words;
  const std::filesystem::path root = std::filesystem::path(KILN_SOURCE_DIR) / folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".def") {
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        AddQuoted(line, words);
      }
    }
  }
  return {words.begin(), words.end()};
}

bool IsName(std::string_view word) {
  return !word.empty() && !IsDigit(word[0]) &&
         std::ranges::all_of(word, [](char c) { return IsLetter(c) || IsDigit(c); });
}

}  // namespace kiln::property
