// SPDX-License-Identifier: MIT
// The configuration that kilnd would run with, as it says itself: files, environment and defaults
// are read in one place.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "compiler/base/result.h"

namespace kiln::cli {

struct DaemonConfig {
  std::map<std::string, std::string> values;  // empty if kilnd cannot be asked
  std::string error;                          // what is wrong with it; empty: nothing

  std::string Or(const std::string& key, const std::string& fallback) const;
};

DaemonConfig ReadDaemonConfig();

// A value such as 20G, in bytes. Errors: kUnavailable if it is not known.
Result<uint64_t> ConfiguredSize(const DaemonConfig& config, const std::string& key);

// The output of a command of the shell, or nothing if it does not run or fails.
std::optional<std::string> OutputOf(const std::string& command);

}  // namespace kiln::cli
