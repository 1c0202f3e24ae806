// SPDX-License-Identifier: MIT
// Levels of the log as text: one for all components, and others for some, such as "info,rpc=debug"
// (spec/daemon 13).
#include "server/ops/log_levels.h"

#include <array>
#include <utility>

namespace kiln::ops {

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, LogLevel>, 5> kLevels = {
      {{"debug", LogLevel::kDebug},
       {"info", LogLevel::kInfo},
       {"warn", LogLevel::kWarning},
       {"warning", LogLevel::kWarning},
       {"error", LogLevel::kError}}};
  for (const auto& [known, level] : kLevels) {
    if (known == name) {
      return level;
    }
  }
  return std::nullopt;
}

// Nothing for a wrong text, whatever its right parts say.
std::optional<LogLevels> ParseLogLevels(std::string_view text) {
  LogLevels levels;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const size_t equals = word.find('=');
    const bool named = equals != std::string_view::npos;
    const std::optional<LogLevel> level = ParseLogLevel(named ? word.substr(equals + 1) : word);
    if (!level.has_value() || (named && equals == 0)) {
      return std::nullopt;
    }
    // The last word for a component counts, as with any flag that is given twice.
    if (named) {
      levels.of[std::string(word.substr(0, equals))] = *level;
    } else {
      levels.least = *level;
    }
    if (comma == std::string_view::npos) {
      return levels;
    }
    text.remove_prefix(comma + 1);
  }
}

}  // namespace kiln::ops
