// SPDX-License-Identifier: MIT
#include "compiler/base/text/duration_text.h"

#include <array>
#include <charconv>

namespace kiln {
namespace {

// Some hundred years: far more than anybody waits, and far from where nanoseconds in 64 bits would
// overflow.
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(1'000'000);

struct Unit {
  std::string_view name;
  std::chrono::milliseconds duration;
};
constexpr std::array<Unit, 5> kUnits = {{{"ms", std::chrono::milliseconds(1)},
                                         {"s", std::chrono::seconds(1)},
                                         {"m", std::chrono::minutes(1)},
                                         {"h", std::chrono::hours(1)},
                                         {"d", std::chrono::hours(24)}}};

}  // namespace

// Whole numbers only: `1.5h` is refused, since `90m` says the same without a question of rounding.
std::optional<Duration> ReadDuration(std::string_view text) {
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  const std::string_view name = text.substr(static_cast<size_t>(rest - text.data()));
  // Zero needs no unit, because all units agree about it.
  if (number == 0 && name.empty()) {
    return Duration::zero();
  }
  for (const Unit& unit : kUnits) {
    // Divided and not multiplied: the product of a number that somebody wrote could overflow.
    if (name == unit.name && number <= static_cast<uint64_t>(kLongest / unit.duration)) {
      return static_cast<int64_t>(number) * unit.duration;
    }
  }
  return std::nullopt;
}

}  // namespace kiln
