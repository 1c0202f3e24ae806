// SPDX-License-Identifier: MIT
// Times in logs: ISO 8601 in UTC with milliseconds, so that lines of several machines can be sorted
// together. Years have four digits.
#include "server/ops/stamp.h"

#include <chrono>
#include <ctime>

#include <fmt/format.h>

namespace kiln::ops {

std::string StampOf(Duration unix_time) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(unix_time);
  const std::time_t seconds = milliseconds.count() / 1000;
  std::tm parts{};
  (void)gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     milliseconds.count() % 1000);
}

}  // namespace kiln::ops
