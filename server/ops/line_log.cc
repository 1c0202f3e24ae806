// SPDX-License-Identifier: MIT
#include "server/ops/line_log.h"

#include <chrono>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kiln::ops {
namespace {

constexpr size_t kKeptWarnings = 20;

// "2026-01-31T12:00:00.123Z"
std::string StampOf(Duration unix_time) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(unix_time);
  const std::time_t seconds = milliseconds.count() / 1000;
  std::tm parts{};
  (void)gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     milliseconds.count() % 1000);
}

}  // namespace

std::string LineLog::LineOf(const LogEntry& entry, Duration now) const {
  if (format_ == LogFormat::kText) {
    return StampOf(now) + " " + FormatLogLine(entry) + "\n";
  }
  nlohmann::ordered_json line;
  line["ts"] = StampOf(now);
  line["level"] = LogLevelName(entry.level);
  line["component"] = entry.component;
  line["msg"] = entry.message;
  for (const LogField& field : entry.fields) {
    line[std::string(field.key)] = field.value;
  }
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void LineLog::Take(const LogEntry& entry) {
  const Duration now = clock_.UnixTime();
  if (entry.level >= least_) {
    const std::string line = LineOf(entry, now);
    (void)std::fwrite(line.data(), 1, line.size(), stream_);  // one call: lines do not mix
    (void)std::fflush(stream_);
  }
  if (entry.level >= LogLevel::kWarning) {
    const MutexLock lock(mutex_);
    warnings_.push_back({.at = now, .text = FormatLogLine(entry)});
    if (warnings_.size() > kKeptWarnings) {
      warnings_.pop_front();
    }
  }
}

std::vector<KeptWarning> LineLog::Warnings() {
  const MutexLock lock(mutex_);
  return {warnings_.begin(), warnings_.end()};
}

}  // namespace kiln::ops
