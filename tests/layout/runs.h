// SPDX-License-Identifier: MIT
// How often a property is tried: KILN_LAYOUT_RUNS, or a number that fits into a normal test run.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace kiln::layout {

inline uint32_t Runs(uint32_t normal = 200) {
  const char* text = std::getenv("KILN_LAYOUT_RUNS");
  return text == nullptr ? normal : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace kiln::layout
