// SPDX-License-Identifier: MIT
#include "server/ops/audit_log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/base/beneath.h"
#include "server/ops/stamp.h"

namespace kiln::ops {

Result<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path, Clock& clock,
                                                 LogSink& log, const Limits& limits) {
  const std::filesystem::path file(path);
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  std::error_code ignored;  // the open says what is wrong
  std::filesystem::create_directories(folder, ignored);
  std::unique_ptr<AuditLog> audit(
      new AuditLog(folder, file.filename().string(), clock, log, limits));
  const MutexLock lock(audit->mutex_);
  KILN_TRY_VOID(audit->OpenFile());
  return Result<std::unique_ptr<AuditLog>>(std::move(audit));
}

AuditLog::~AuditLog() {
  if (fd_ >= 0) {
    (void)close(fd_);
  }
}

Result<void> AuditLog::OpenFile() {
  KILN_TRY(fd_, OpenBeneath(folder_, name_, O_WRONLY | O_APPEND | O_CREAT, 0600));
  struct stat status {};
  size_ = fstat(fd_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
  (void)fchmod(fd_, 0600);
  return {};
}

// audit.jsonl -> audit.jsonl.1 -> … ; the oldest goes.
void AuditLog::Rotate() {
  const auto name = [this](uint32_t age) {
    return folder_ + "/" + name_ + (age == 0 ? std::string() : "." + std::to_string(age));
  };
  for (uint32_t age = limits_.files - 1; age > 0; --age) {
    (void)rename(name(age - 1).c_str(), name(age).c_str());
  }
  (void)close(fd_);
  fd_ = -1;
}

void AuditLog::Write(const AuditLine& line) {
  nlohmann::ordered_json object{{"ts", StampOf(clock_.UnixTime())}, {"event", line.event}};
  const auto add = [&](const char* key, std::string_view value) {
    if (!value.empty()) {
      object[key] = value;
    }
  };
  add("peer", line.peer);
  add("subject", line.subject);
  add("token", line.token);
  add("method", line.method);
  add("object", line.object);
  add("result", line.result);
  add("trace", line.trace);
  const std::string text =
      object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  const MutexLock lock(mutex_);
  if (fd_ >= 0 && size_ + text.size() > limits_.max_bytes && size_ != 0) {
    Rotate();
  }
  const bool open = fd_ >= 0 || OpenFile().ok();
  const bool written =
      open && write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written && !failing_) {
    log_.Write(LogLevel::kError, "audit", "the audit log cannot be written",
               {{"file", folder_ + "/" + name_}, {"cause", std::strerror(errno)}});
  }
  failing_ = !written;
  size_ += written ? text.size() : 0;
}

}  // namespace kiln::ops
