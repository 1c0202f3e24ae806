// SPDX-License-Identifier: MIT
// Text of others, as messages have it: what a source, a request or a tool chose is as long as it
// likes, and a message is not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln {

// Not longer than `most` bytes: cut before a code point, with "..." at the end, where it was.
// Requires: most >= 3.
std::string Shortened(std::string_view text, size_t most);

// Tokens: at most about 60 bytes, control characters escaped.
std::string Quoted(std::string_view text);

}  // namespace kiln
