// SPDX-License-Identifier: MIT
// Rounds a 32-bit float to the nearest 16-bit one, ties to even. Too large becomes infinite.
#pragma once

#include <bit>
#include <cstdint>

namespace kiln::resolve {

constexpr uint32_t HalfBits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) {  // infinite or no number
    return sign | 0x7c00u | (magnitude > 0x7f800000u ? 0x200u : 0u);
  }
  if (magnitude >= 0x477ff000u) {  // rounds above the largest half
    return sign | 0x7c00u;
  }
  const uint32_t exponent = magnitude >> 23;
  if (exponent < 102) {  // below half of the least half
    return sign;
  }
  // The bits of the half, followed by `dropped` bits that decide the rounding.
  const bool normal = exponent >= 113;
  const uint32_t mantissa = magnitude & 0x7fffffu;
  const uint32_t dropped = normal ? 13 : 126 - exponent;
  const uint32_t whole = normal ? magnitude - 0x38000000u : mantissa | 0x800000u;
  const uint32_t rest = whole & ((1u << dropped) - 1);
  const uint32_t middle = 1u << (dropped - 1);
  const uint32_t kept = whole >> dropped;
  const bool up = rest > middle || (rest == middle && (kept & 1u) != 0);
  return sign | (kept + (up ? 1 : 0));
}

}  // namespace kiln::resolve
