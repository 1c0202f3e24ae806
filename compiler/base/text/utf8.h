// SPDX-License-Identifier: MIT
// UTF-8 well-formedness and decoding, as Unicode defines it: shortest forms, no surrogates, at most
// U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kiln {

// Offset of the first byte that starts no well-formed code point, or text.size().
size_t FindInvalidUtf8(std::string_view text);

struct CodePoint {
  uint32_t value = 0;
  uint32_t size =
      0;  // bytes, 1 to 4; 0 if the text is empty or does not start with a well-formed one
};

CodePoint DecodeUtf8(std::string_view text);

}  // namespace kiln
