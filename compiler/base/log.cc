// SPDX-License-Identifier: MIT
// Formatting of log lines and the sinks that need nothing but the C library.
#include "compiler/base/log.h"

#include <fmt/core.h>

#include "compiler/base/check.h"
#include "compiler/base/printable.h"

namespace kiln {
namespace {

// A value goes without quotes only if a reader that splits at spaces and '=' gets it back whole.
bool NeedsQuotes(std::string_view value) {
  return value.empty() || value.find_first_of(" \"=\\") != std::string_view::npos ||
         Printable(value) != value;
}

// A line is one entry whatever the message holds: others choose parts of it, and a line end would
// let them write entries of their own.
std::string Escaped(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    // Messages are escaped as well, though they have no quotes around them, so that one rule reads
    // both.
    if (c == '"' || c == '\\') {
      escaped += '\\';
    }
    escaped += c == '\n' ? std::string_view("\\n") : std::string_view(&c, 1);
  }
  return Printable(escaped);
}

}  // namespace

std::string_view LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  KILN_UNREACHABLE();
}

std::string FormatLogLine(const LogEntry& entry) {
  std::string line = fmt::format("{} {}: ", LogLevelName(entry.level), entry.component);
  line += Escaped(entry.message);
  for (const LogField& field : entry.fields) {
    // Keys are constants of the program and need no escape.
    line += fmt::format(" {}=", field.key);
    const bool quotes = NeedsQuotes(field.value);
    line += quotes ? "\"" : "";
    line += Escaped(field.value);
    line += quotes ? "\"" : "";
  }
  return line;
}

void NullLog::Take(const LogEntry& /*entry*/) {}

void StreamLog::Take(const LogEntry& entry) {
  if (entry.level < least_) {
    return;
  }
  // One call, so that lines of several threads do not mix. A log that cannot be written is given
  // up.
  const std::string line = FormatLogLine(entry) + "\n";
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stream_));
  static_cast<void>(std::fflush(stream_));
}

// The threads of a test write at once; what is kept is the line, not views of what is gone.
void RecordingLog::Take(const LogEntry& entry) {
  const MutexLock lock(mutex_);
  lines_.push_back(FormatLogLine(entry));
}

std::vector<std::string> RecordingLog::Lines() {
  const MutexLock lock(mutex_);
  return lines_;
}

}  // namespace kiln
