// SPDX-License-Identifier: MIT
// Words of a text that are separated by single spaces, as tables write them.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace kiln {

// The next word of `text`, which loses it and the space behind it; empty if there is none.
inline std::string_view TakeWord(std::string_view& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

inline std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(TakeWord(text));
  }
  return words;
}

}  // namespace kiln
