// SPDX-License-Identifier: MIT
// What a number token is by its spelling. Values are the business of whoever needs them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/front/hlsl/token.h"

namespace kiln::hlsl {

// The end of the number that starts at `begin`: a digit, or a dot and a digit. It takes in all that
// touches it and could be meant as part of it, but not a swizzle: "1.xxx" and "1.0.rgb" are three
// tokens.
uint32_t NumberEnd(std::string_view text, uint32_t begin);

// kInteger: decimal, 0x or octal, with u l ul lu ll ull llu in any case; kFloat: a dot on either
// side or an exponent, with f h l; kMalformed otherwise.
TokenKind NumberKind(std::string_view spelling);

struct Integer {
  uint64_t value = 0;
  bool is_unsigned = false;  // by suffix
};
// Nothing if it does not fit in 64 bits. Requires: NumberKind is kInteger.
std::optional<Integer> IntegerValue(std::string_view spelling);

}  // namespace kiln::hlsl
