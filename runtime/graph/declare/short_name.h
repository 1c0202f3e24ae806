// SPDX-License-Identifier: MIT
// A name put together without the heap, for what the graph declares by itself. Cut at 120 bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace kiln::graph {

class ShortName {
 public:
  ShortName(std::string_view before, std::string_view name, std::string_view after) {
    Append(before);
    Append(name);
    Append(after);
  }
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  void Append(std::string_view part) {
    size_t count = std::min(part.size(), text_.size() - size_);
    while (count < part.size() && count > 0 && IsInside(part[count])) {
      --count;
    }
    std::memcpy(text_.data() + size_, part.data(), count);
    size_ += count;
  }

  // Whether a byte continues a character of UTF-8.
  static bool IsInside(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

  std::array<char, 120> text_ = {};
  size_t size_ = 0;
};

}  // namespace kiln::graph
