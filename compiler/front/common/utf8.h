// SPDX-License-Identifier: MIT
// Well-formedness of source text. Spec: Unicode 15 table 3-7 (no overlong forms, no surrogates,
// nothing above U+10FFFF).
#pragma once

#include <cstddef>
#include <string_view>

namespace kiln::front {

// Offset of the first byte that does not start or continue a well-formed code point; npos if there
// is none. Plain ASCII costs one pass over 8 bytes at a time.
size_t FindInvalidUtf8(std::string_view text);

// Bytes of the code point at `offset`, at least 1. Requires: well-formed text, offset < size.
size_t CodePointSize(std::string_view text, size_t offset);

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace kiln::front
