// SPDX-License-Identifier: MIT
// The version of the library, as text and as a check of the header that a program was compiled
// with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <kiln/kiln.h>

#include "compiler/base/result.h"

namespace kiln::c {

// "0.2.0" and its end, of KILN_HEADER_VERSION.
constexpr std::array<char, 16> VersionText(uint32_t version) {
  std::array<char, 16> text{};
  size_t at = 0;
  const auto number = [&](uint32_t value) {
    for (uint32_t unit = 1'000'000; unit > 0; unit /= 10) {
      if (value >= unit || unit == 1) {
        text[at++] = static_cast<char>('0' + value / unit % 10);
      }
    }
  };
  number(version / 1'000'000);
  text[at++] = '.';
  number(version / 1'000 % 1'000);
  text[at++] = '.';
  number(version % 1'000);
  return text;
}

// Before 1.0 every minor version is another one; from then on a library serves older headers.
// Errors: kFailedPrecondition, VERSION, which names both.
Result<void> CheckVersion(uint32_t header);

}  // namespace kiln::c
