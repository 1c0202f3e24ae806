// SPDX-License-Identifier: MIT
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "client/cli/store.h"
#include "compiler/base/byte_size.h"

namespace kiln::cli {
namespace {

using Units = std::span<const std::pair<std::string_view, uint64_t>>;

Result<uint64_t> Parse(const std::string& text, Units units, std::string_view example) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(rest, static_cast<size_t>(end - rest));
  if (error == std::errc()) {
    for (const auto& [name, factor] : units) {
      if (unit == name && number <= std::numeric_limits<uint64_t>::max() / factor) {
        return number * factor;
      }
    }
  }
  return Error{.code = ErrorCode::kInvalidArgument,
               .context = fmt::format("'{}' is not like {}", text, example),
               .reason = "USAGE"};
}

}  // namespace

Result<uint64_t> ParseSize(const std::string& text) {
  const std::optional<uint64_t> bytes = ReadByteSize(text);
  return bytes.has_value()
             ? Result<uint64_t>(*bytes)
             : Result<uint64_t>(Error{.code = ErrorCode::kInvalidArgument,
                                      .context = fmt::format("'{}' is not like 10GiB or 10G", text),
                                      .reason = "USAGE"});
}

Result<uint64_t> ParseAge(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, uint64_t>, 5> kUnits{
      {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}}};
  return Parse(text, kUnits, "7d");
}

std::string SizeText(uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kNames{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) {
    return fmt::format("{} bytes", bytes);
  }
  double value = static_cast<double>(bytes) / 1024;
  size_t name = 0;
  while (value >= 1024 && name + 1 < kNames.size()) {
    value /= 1024;
    ++name;
  }
  return fmt::format("{:.1f} {}", value, kNames[name]);
}

}  // namespace kiln::cli
