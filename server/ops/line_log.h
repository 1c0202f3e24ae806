// SPDX-License-Identifier: MIT
// The log of the daemon: entry -> one line with a time stamp, key=value text for people or a JSON
// object for machines. Keeps the last warnings for GetStatus. Spec: daemon §13.1
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"

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
  LineLog(std::FILE* stream, LogFormat format, LogLevel least, Clock& clock)
      : stream_(stream), format_(format), least_(least), clock_(clock) {}

  void Take(const LogEntry& entry) override;
  std::vector<KeptWarning> Warnings();  // the last 20, oldest first

 private:
  std::string LineOf(const LogEntry& entry, Duration now) const;

  std::FILE* const stream_;
  const LogFormat format_;
  const LogLevel least_;
  Clock& clock_;
  Mutex mutex_;
  std::deque<KeptWarning> warnings_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::ops
