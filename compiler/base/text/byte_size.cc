// SPDX-License-Identifier: MIT
#include "compiler/base/text/byte_size.h"

#include <charconv>

namespace kiln {

// Nothing for a text that is no size or too large for 64 bits.
std::optional<uint64_t> ReadByteSize(std::string_view text) {
  // The place of a letter is its power: ten bits for each. All units are of 1024; "K", "KB" and
  // "KiB" mean the same, because sizes of memory and caches are meant.
  constexpr std::string_view kUnits = "KMGT";
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  uint32_t shift = 0;
  if (!unit.empty() && unit != "B") {
    const size_t power = kUnits.find(unit.front());
    unit.remove_prefix(1);
    if (power == std::string_view::npos || (!unit.empty() && unit != "B" && unit != "iB")) {
      return std::nullopt;
    }
    shift = static_cast<uint32_t>(10 * (power + 1));
  }
  // Compared before shifting: a size too large is no size, not a small one.
  return number > UINT64_MAX >> shift ? std::nullopt : std::optional(number << shift);
}

}  // namespace kiln
