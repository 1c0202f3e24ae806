// SPDX-License-Identifier: MIT
// Which entries are logged: one level for all, others for some components. "info,rpc=debug" -> the
// levels. See spec/daemon 13.1
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/base/log.h"

namespace kiln::ops {

struct LogLevels {
  LogLevel least = LogLevel::kInfo;
  std::map<std::string, LogLevel, std::less<>> of;  // component -> level

  LogLevel Of(std::string_view component) const {
    const auto found = of.find(component);
    return found == of.end() ? least : found->second;
  }
};

// "error", "warn" or "warning", "info", "debug"
std::optional<LogLevel> ParseLogLevel(std::string_view name);
// Nothing if one of its words is not a level.
std::optional<LogLevels> ParseLogLevels(std::string_view text);

}  // namespace kiln::ops
