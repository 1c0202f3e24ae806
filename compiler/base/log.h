// SPDX-License-Identifier: MIT
// One line per event: level, component, message, key=value. A sink is passed to whoever logs; there
// is no global one. kError = someone must act, kWarning = degraded, kInfo = life cycle and one line
// per request, kDebug = off by default. Shader text is logged at kDebug only.
//   log.Write(LogLevel::kWarning, "cache", "store is full", {{"path", path}, {"bytes", size}});
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/mutex.h"

namespace kiln {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

std::string_view LogLevelName(LogLevel level);  // "warning"

struct LogField {
  std::string_view key;
  std::string value;

  LogField(std::string_view field, std::string_view text) : key(field), value(text) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) LogField(std::string_view field, T number)
      : key(field), value(std::to_string(number)) {}
  template <std::same_as<bool> T>
  LogField(std::string_view field, T flag) : key(field), value(flag ? "true" : "false") {}
};

struct LogEntry {
  LogLevel level = LogLevel::kInfo;
  std::string_view component;
  std::string_view message;
  std::span<const LogField> fields;
};

// "warning cache: store is full path=/var/kiln bytes=17"; values with blanks, quotes, '=' or
// control characters are quoted and escaped (Printable), so an entry is always one line.
std::string FormatLogLine(const LogEntry& entry);

// Safe from any thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Take(const LogEntry& entry) = 0;

  void Write(LogLevel level, std::string_view component, std::string_view message,
             std::initializer_list<LogField> fields = {}) {
    Take({.level = level,
          .component = component,
          .message = message,
          .fields = std::span(fields.begin(), fields.size())});
  }
};

class NullLog final : public LogSink {
 public:
  void Take(const LogEntry& entry) override;
};

// Lines to a stream, entries below `least` dropped. The stream must outlive the sink.
class StreamLog final : public LogSink {
 public:
  explicit StreamLog(std::FILE* stream, LogLevel least = LogLevel::kInfo)
      : stream_(stream), least_(least) {}
  void Take(const LogEntry& entry) override;

 private:
  std::FILE* const stream_;
  const LogLevel least_;
};

// Keeps the lines, for tests.
class RecordingLog final : public LogSink {
 public:
  void Take(const LogEntry& entry) override;
  std::vector<std::string> Lines();

 private:
  Mutex mutex_;
  std::vector<std::string> lines_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln
