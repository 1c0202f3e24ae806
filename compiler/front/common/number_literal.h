// SPDX-License-Identifier: MIT
// Digits -> 32-bit values. The caller has found the extent of the literal and cut off prefix and
// suffix; what is given matches the pattern of its function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::front {

// [0-9]+; nullopt if the value is 2^32 or more, however many digits there are.
std::optional<uint32_t> ParseDecimal(std::string_view digits);

// [01]+
std::optional<uint32_t> ParseBinary(std::string_view digits);

// [0-9a-fA-F]+
std::optional<uint32_t> ParseHexadecimal(std::string_view digits);

// [0-9]+ "." [0-9]+ with an optional exponent: the IEEE-754 bits of the nearest 32-bit float, ties
// to even. Small values become denormal or zero; nullopt if the value rounds to infinity.
std::optional<uint32_t> ParseFloatBits(std::string_view text);

}  // namespace kiln::front
