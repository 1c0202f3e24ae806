// SPDX-License-Identifier: MIT
#include "compiler/tool/limit_arguments.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace kiln::tool {
namespace {

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

std::string Names() {
  std::string names;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

}  // namespace

Result<LanguageLimits> ReadLimits(std::span<const std::string> arguments) {
  LanguageLimits limits;
  for (const std::string& argument : arguments) {
    const std::string_view name = std::string_view(argument).substr(0, argument.find('='));
    const std::span<const LanguageLimitRow> rows = LanguageLimitTable();
    const auto row = std::ranges::find(rows, name, &LanguageLimitRow::name);
    if (row == rows.end()) {
      return Wrong(fmt::format("--limit '{}' is not NAME=VALUE with one of {}", argument, Names()));
    }
    const std::string_view text =
        std::string_view(argument).substr(std::min(argument.size(), name.size() + 1));
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() ||
        value < row->least || value > row->most) {
      return Wrong(fmt::format("--limit '{}' is not a number from {} to {}", argument, row->least,
                               row->most));
    }
    limits.*(row->value) = value;
  }
  return limits;
}

}  // namespace kiln::tool
