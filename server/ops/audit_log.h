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
#include "server/ops/rotated_file.h"

namespace kiln::ops {

// Texts are cut at 256 bytes: others choose them.
struct AuditLine {
  std::string_view event;  // call, authentication, connection, upload, token
  std::string_view peer;
  std::string_view subject;  // of the client's certificate
  std::string_view token;    // id
  std::string_view method;
  std::string_view object;  // what it was about: a pin, a batch, a token
  std::string_view result;  // OK, or the name of a status
  std::string_view trace;
  uint64_t count = 0;  // of what was rejected; 0: nothing of the kind
};

// Safe from any thread.
class AuditLog {
 public:
  using Limits = RotatedFile::Limits;

  // Makes the folder, which must not be reached through a link below its parent. Clock and log must
  // outlive it. Errors: FileError.
  static Result<std::unique_ptr<AuditLog>> Open(const std::string& path, Clock& clock, LogSink& log,
                                                const Limits& limits);
  static Result<std::unique_ptr<AuditLog>> Open(const std::string& path, Clock& clock,
                                                LogSink& log) {
    return Open(path, clock, log, Limits{});
  }
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // A line that cannot be written is told to the log once, and again after one that could.
  void Write(const AuditLine& line);

 private:
  AuditLog(std::unique_ptr<RotatedFile> file, Clock& clock, LogSink& log)
      : clock_(clock), log_(log), file_(std::move(file)) {}

  Clock& clock_;
  LogSink& log_;
  Mutex mutex_;
  const std::unique_ptr<RotatedFile> file_ KILN_GUARDED_BY(mutex_);
  bool failing_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::ops
