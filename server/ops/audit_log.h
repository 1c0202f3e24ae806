// SPDX-License-Identifier: MIT
// Who changed what: one JSON object per line in audit.jsonl, mode 0600, eight files of 64 MiB in
// turn. Never a secret, never source text. Spec: daemon §11.7
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"

namespace kiln::ops {

struct AuditLine {
  std::string_view event;  // call, authentication, connection, upload, token
  std::string_view peer;
  std::string_view subject;  // of the client's certificate
  std::string_view token;    // id
  std::string_view method;
  std::string_view object;  // what it was about: a pin, a batch, a token
  std::string_view result;  // OK, or the name of a status
  std::string_view trace;
};

// Safe from any thread.
class AuditLog {
 public:
  struct Limits {
    uint64_t max_bytes = uint64_t{64} << 20;  // of one file
    uint32_t files = 8;
  };

  // Makes the folder, which must not be reached through a link below its parent. Clock and log must
  // outlive it. Errors: FileError.
  static Result<std::unique_ptr<AuditLog>> Open(const std::string& path, Clock& clock, LogSink& log,
                                                const Limits& limits);
  static Result<std::unique_ptr<AuditLog>> Open(const std::string& path, Clock& clock,
                                                LogSink& log) {
    return Open(path, clock, log, Limits{});
  }
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // A line that cannot be written is told to the log once, and again after one that could.
  void Write(const AuditLine& line);

 private:
  AuditLog(std::string folder, std::string name, Clock& clock, LogSink& log, const Limits& limits)
      : folder_(std::move(folder)),
        name_(std::move(name)),
        clock_(clock),
        log_(log),
        limits_(limits) {}
  Result<void> OpenFile() KILN_REQUIRES(mutex_);
  void Rotate() KILN_REQUIRES(mutex_);

  const std::string folder_, name_;
  Clock& clock_;
  LogSink& log_;
  const Limits limits_;
  Mutex mutex_;
  int fd_ KILN_GUARDED_BY(mutex_) = -1;
  uint64_t size_ KILN_GUARDED_BY(mutex_) = 0;
  bool failing_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::ops
