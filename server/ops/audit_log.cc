// SPDX-License-Identifier: MIT
#include "server/ops/audit_log.h"

#include <nlohmann/json.hpp>

#include "server/ops/stamp.h"

namespace kiln::ops {
namespace {

constexpr size_t kMostText = 256;  // bytes of one field

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path, Clock& clock,
                                                 LogSink& log, const Limits& limits) {
  KILN_TRY(std::unique_ptr<RotatedFile> file, RotatedFile::Open(path, limits));
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(file), clock, log));
}

void AuditLog::Write(const AuditLine& line) {
  nlohmann::ordered_json object{{"ts", StampOf(clock_.UnixTime())}, {"event", line.event}};
  const auto add = [&](const char* key, std::string_view value) {
    if (!value.empty()) {
      object[key] = value.substr(0, kMostText);
    }
  };
  add("peer", line.peer);
  add("subject", line.subject);
  add("token", line.token);
  add("method", line.method);
  add("object", line.object);
  add("result", line.result);
  if (line.count != 0) {
    object["count"] = line.count;
  }
  add("trace", line.trace);
  const std::string text =
      object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  const MutexLock lock(mutex_);
  const Result<void> written = file_->Append(text);
  if (!written.ok() && !failing_) {
    log_.Write(LogLevel::kError, "audit", "the audit log cannot be written",
               {{"file", file_->path()}, {"cause", written.error().context}});
  }
  failing_ = !written.ok();
}

}  // namespace kiln::ops
