// SPDX-License-Identifier: MIT
// Sizes and ages as people write and read them. The grammar is the one of kilnd.toml
// (compiler/base), so a size means the same on the command line and in a file.
#include "client/cli/output/units.h"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "compiler/base/text/byte_size.h"
#include "compiler/base/text/duration_text.h"

namespace kiln::cli {
namespace {

Error NotLike(const std::string& text, std::string_view example) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = fmt::format("'{}' is not like {}", text, example),
          .reason = "USAGE"};
}

}  // namespace

Result<uint64_t> ParseSize(const std::string& text) {
  const std::optional<uint64_t> bytes = ReadByteSize(text);
  return bytes.has_value() ? Result<uint64_t>(*bytes) : NotLike(text, "10GiB or 10G");
}

// Overflow is refused by ReadDuration, so the product of number and unit always fits.
Result<uint64_t> ParseAge(const std::string& text) {
  // A number alone means seconds here.
  const bool has_unit = text.empty() || text.back() < '0' || text.back() > '9';
  // Ages are whole seconds in the store, so 1500ms is refused and not rounded.
  const std::optional<Duration> age = ReadDuration(has_unit ? text : text + 's');
  if (!age.has_value() || *age % std::chrono::seconds(1) != Duration::zero()) {
    return NotLike(text, "7d");
  }
  return static_cast<uint64_t>(*age / std::chrono::seconds(1));
}

// For people: one decimal, and units of 1024. JSON has the bytes themselves. From 1024 TiB on the
// number grows instead of the unit.
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
