// SPDX-License-Identifier: MIT
// What a literal is: integer or float, how it is written, its suffix. The longest run of letters,
// digits and dots is taken as one literal, so that `1.0ff` and `012` are told as wrong numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::wgsl::front {

struct NumberForm {
  bool is_float = false;
  bool is_hex = false;
  char suffix = 0;          // 'i', 'u', 'f', 'h' or none
  std::string_view digits;  // without "0x" and suffix
};

// Length of what begins with a digit, or a dot and a digit, and looks like a number.
size_t NumberLength(std::string_view text);

// Nothing if it is none.
std::optional<NumberForm> ReadNumber(std::string_view text);

}  // namespace kiln::wgsl::front
