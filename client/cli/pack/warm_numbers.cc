// SPDX-License-Identifier: MIT
#include "client/cli/pack/warm_numbers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kiln::cli {

uint32_t WarmNumbers::Take(const char* name, uint32_t most) {
  const auto found = row_.find(name);
  if (found == row_.end()) {
    return 0;
  }
  // Read with 64 bits: the library casts without a word.
  const uint64_t number = found->is_number_unsigned() ? found->get<uint64_t>() : UINT64_MAX;
  if (number <= most) {
    return static_cast<uint32_t>(number);
  }
  if (wrong_.empty()) {
    wrong_ = fmt::format("its {} is no number from 0 to {}", name, most);
  }
  return 0;
}

Result<std::vector<pack::ImageHint>> ListedHints(const nlohmann::json& rows) {
  const auto wrong = [](std::string what) {
    return Error{
        .code = ErrorCode::kInvalidArgument, .context = std::move(what), .reason = "USAGE"};
  };
  if (!rows.is_array() || rows.size() > kMaxHints) {
    return wrong(fmt::format("its hints are no list of at most {}", kMaxHints));
  }
  std::vector<pack::ImageHint> hints;
  for (const nlohmann::json& row : rows) {
    if (!row.is_object()) {
      return wrong("a hint is not like {\"set\": 0, \"binding\": 1, \"sampler\": 2}");
    }
    WarmNumbers numbers(row);
    hints.push_back({.set = static_cast<uint8_t>(numbers.Take("set", UINT8_MAX)),
                     .binding = static_cast<uint8_t>(numbers.Take("binding", UINT8_MAX)),
                     .sampler_class = static_cast<uint16_t>(numbers.Take("sampler", UINT16_MAX)),
                     .format = numbers.Take("format", UINT32_MAX)});
    if (!numbers.wrong().empty()) {
      return wrong("of a hint: " + numbers.wrong());
    }
  }
  return hints;
}

Result<void> CheckWarmLines(size_t lines, uint32_t first) {
  const uint32_t room = UINT16_MAX - std::min<uint32_t>(first, UINT16_MAX);
  if (lines <= room) {
    return {};
  }
  return Error{.code = ErrorCode::kInvalidArgument,
               .context = fmt::format("a warm list has at most {} lines behind {} variants of the "
                                      "manifest",
                                      room, first),
               .reason = "USAGE"};
}

}  // namespace kiln::cli
