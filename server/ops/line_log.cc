// SPDX-License-Identifier: MIT
#include "server/ops/line_log.h"

#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include "compiler/base/check.h"
#include "compiler/base/printable.h"
#include "server/ops/stamp.h"

namespace kiln::ops {
namespace {

// What `kiln status` shows at the end: enough for a screen.
constexpr size_t kKeptWarnings = 20;
constexpr Duration kTellRepeats = std::chrono::seconds(10);

// Lines are whole when they come here; spdlog keeps them apart and flushes.
class StreamSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit StreamSink(std::FILE* stream) : stream_(stream) {}

 private:
  // The message is the payload and nothing else: format and time stamp are made by LineOf, under
  // the clock of the daemon, which tests can set.
  void sink_it_(const spdlog::details::log_msg& message) override {
    (void)std::fwrite(message.payload.data(), 1, message.payload.size(), stream_);
  }
  void flush_() override { (void)std::fflush(stream_); }

  std::FILE* const stream_;
};

spdlog::level::level_enum LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  KILN_UNREACHABLE();
}

}  // namespace

LineLog::LineLog(std::FILE* stream, LogFormat format, LogLevel least, Clock& clock)
    : lines_(std::make_unique<spdlog::logger>("kilnd", std::make_shared<StreamSink>(stream))),
      format_(format),
      clock_(clock) {
  lines_->set_level(spdlog::level::trace);  // the levels here decide
  // A line that is in a buffer when the process dies would be the one that tells why.
  lines_->flush_on(spdlog::level::trace);
  levels_.least = least;
}

// Repeats that were counted and not yet told come out at last.
LineLog::~LineLog() {
  const MutexLock lock(mutex_);
  TellRepeats(clock_.UnixTime());
}

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
  return PrintableJson(
             line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

// A fault that comes with every call must not fill the disk. A warning that says the same as the
// last one, but for trace id and duration, is counted; the count is written every ten seconds and
// before the next line that is different. Only lines in a row are compared: two faults that
// alternate are both news.
bool LineLog::IsRepeated(const LogEntry& entry, Duration now) {
  // Lines below a warning are never folded, and none of them is lost.
  if (entry.level < LogLevel::kWarning) {
    return false;
  }
  std::vector<LogField> same;
  for (const LogField& field : entry.fields) {
    // These two differ with each call although the fault is the same.
    if (field.key != "trace" && field.key != "ms") {
      same.push_back(field);
    }
  }
  std::string text = FormatLogLine({.level = entry.level,
                                    .component = entry.component,
                                    .message = entry.message,
                                    .fields = same});
  if (text == last_) {
    ++repeats_;
    if (now - repeating_since_ >= kTellRepeats) {
      TellRepeats(now);
    }
    return true;
  }
  TellRepeats(now);
  last_ = std::move(text);
  last_component_ = entry.component;
  last_level_ = entry.level;
  repeating_since_ = now;
  return false;
}

void LineLog::TellRepeats(Duration now) {
  if (repeats_ != 0) {
    const std::string text = fmt::format("repeated {} times", repeats_);
    lines_->log(
        LevelOf(last_level_),
        LineOf({.level = last_level_, .component = last_component_, .message = text, .fields = {}},
               now));
    repeats_ = 0;
    repeating_since_ = now;
  }
}

void LineLog::Take(const LogEntry& entry) {
  const Duration now = clock_.UnixTime();
  const MutexLock lock(mutex_);
  if (entry.level >= levels_.Of(entry.component) && !IsRepeated(entry, now)) {
    // A line in between ends the row: the count must stand before it, and the warning is news again
    // when it comes after it.
    if (entry.level < LogLevel::kWarning) {
      TellRepeats(now);
      last_.clear();
    }
    lines_->log(LevelOf(entry.level), LineOf(entry, now));
  }
  // Kept whatever the levels say, and repeats, too: `kiln status` shows what is wrong even where
  // nothing is logged.
  if (entry.level >= LogLevel::kWarning) {
    warnings_.push_back({.at = now, .text = FormatLogLine(entry)});
    if (warnings_.size() > kKeptWarnings) {
      warnings_.pop_front();
    }
  }
}

void LineLog::SetLevels(LogLevels levels) {
  const MutexLock lock(mutex_);
  levels_ = std::move(levels);
}

void LineLog::SetLevel(const std::string& component, LogLevel level) {
  const MutexLock lock(mutex_);
  (component.empty() ? levels_.least : levels_.of[component]) = level;
}

std::vector<KeptWarning> LineLog::Warnings() {
  const MutexLock lock(mutex_);
  return {warnings_.begin(), warnings_.end()};
}

}  // namespace kiln::ops
