// SPDX-License-Identifier: MIT
// The log of the daemon: entry -> one line with a time stamp, key=value text for people or a JSON
// object for machines, written by spdlog. A warning that comes again and again is told once and
// then counted. Keeps the last warnings for GetStatus. See spec/daemon 13.1
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "server/ops/log_levels.h"

namespace spdlog {
class logger;
}

namespace kiln::ops {

enum class LogFormat : uint8_t { kText, kJson };

struct KeptWarning {
  Duration at{};  // Unix time
  std::string text;
};

// Safe from any thread.
class LineLog final : public LogSink {
 public:
  // Stream and clock must outlive the log.
  LineLog(std::FILE* stream, LogFormat format, LogLevel least, Clock& clock);
  ~LineLog() override;

  void Take(const LogEntry& entry) override;
  std::vector<KeptWarning> Warnings();  // the last 20, oldest first

  void SetLevels(LogLevels levels);
  // Empty component: of all. Levels of components stay.
  void SetLevel(const std::string& component, LogLevel level);

 private:
  std::string LineOf(const LogEntry& entry, Duration now) const;
  bool IsRepeated(const LogEntry& entry, Duration now) KILN_REQUIRES(mutex_);
  void TellRepeats(Duration now) KILN_REQUIRES(mutex_);

  const std::unique_ptr<spdlog::logger> lines_;
  const LogFormat format_;
  Clock& clock_;
  Mutex mutex_;
  LogLevels levels_ KILN_GUARDED_BY(mutex_);
  std::deque<KeptWarning> warnings_ KILN_GUARDED_BY(mutex_);
  std::string last_ KILN_GUARDED_BY(mutex_);  // the warning that may come again, without its trace
  std::string last_component_ KILN_GUARDED_BY(mutex_);
  LogLevel last_level_ KILN_GUARDED_BY(mutex_) = LogLevel::kWarning;
  uint64_t repeats_ KILN_GUARDED_BY(mutex_) = 0;
  Duration repeating_since_ KILN_GUARDED_BY(mutex_){};
};

}  // namespace kiln::ops
