// SPDX-License-Identifier: MIT
// Who changed what, and who was refused: one JSON object per line, mode 0600. Acts of those who may
// are in audit.jsonl, eight files of 64 MiB in turn; what nobody was allowed to do is in
// audit.refused.jsonl, four of 8 MiB, so that they write nothing of the others away. In both each
// party has its share of lines, and what is beyond is counted. Never a secret, never source text.
// See spec/daemon 11.7
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "server/ops/line_quota.h"
#include "server/ops/party.h"
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
  struct Limits {
    RotatedFile::Limits acts;
    RotatedFile::Limits refusals = {.max_bytes = uint64_t{8} << 20, .files = 4};
  };
  // Of one party, and of all but the owner, who is told in full.
  static constexpr LineQuota::Rates kActs = {
      .party = {.at_once = 1000, .each = std::chrono::milliseconds(100)},
      .all = {.at_once = 100'000, .each = std::chrono::milliseconds(10)}};
  static constexpr LineQuota::Rates kRefusals = {
      .party = {.at_once = 1, .each = std::chrono::minutes(1)},
      .all = {.at_once = 1000, .each = std::chrono::milliseconds(100)}};

  // Makes the folder, which must not be reached through a link below its parent. Clock and log must
  // outlive it. Errors: FileError.
  static Result<std::unique_ptr<AuditLog>> Open(const std::string& path, Clock& clock, LogSink& log,
                                                const Limits& limits);
  static Result<std::unique_ptr<AuditLog>> Open(const std::string& path, Clock& clock,
                                                LogSink& log) {
    return Open(path, clock, log, Limits{});
  }
  // "DIR/audit.jsonl" -> "DIR/audit.refused.jsonl"
  static std::string RefusalsPath(const std::string& path);
  ~AuditLog();  // tells what was held back
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // What a party did, or was not allowed to do. A line that cannot be written is told to the log
  // once, and again after one that could.
  void Write(const Party& party, const AuditLine& line);
  // That a party was not let in. How many like it were held back since its last one, or nothing if
  // this one is.
  std::optional<uint64_t> WriteRefusal(const Party& party, const AuditLine& line);

 private:
  // A file and who may write how much of it.
  struct Book {
    const std::unique_ptr<RotatedFile> file;
    LineQuota quota;
    bool failing = false;
    Duration looked_at{};  // for what is untold
  };

  AuditLog(std::unique_ptr<RotatedFile> acts, std::unique_ptr<RotatedFile> refusals, Clock& clock,
           LogSink& log);
  void Append(Book& book, const AuditLine& line, uint64_t held_back) KILN_REQUIRES(mutex_);
  void AppendText(Book& book, const std::string& text) KILN_REQUIRES(mutex_);
  void TellUntold(Book& book, bool all) KILN_REQUIRES(mutex_);

  Clock& clock_;
  LogSink& log_;
  Mutex mutex_;
  Book acts_ KILN_GUARDED_BY(mutex_);
  Book refusals_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::ops
