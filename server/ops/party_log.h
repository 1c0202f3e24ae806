// SPDX-License-Identifier: MIT
// Lines of the log that callers cause: of each party, and of all together, some at once and then
// one in a while; what is beyond is counted, and told with the party's next line or when it has
// been silent for a while. The owner is told in full. See spec/daemon 13.1
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "server/ops/audit_log.h"
#include "server/ops/line_quota.h"
#include "server/ops/party.h"

namespace kiln::ops {

// Safe from any thread.
class PartyLog {
 public:
  // Calls of those who may not make them, and all else.
  enum class Share : uint8_t { kRefusals, kCalls };
  static constexpr LineQuota::Rates kRefusals = AuditLog::kRefusals;
  static constexpr LineQuota::Rates kCalls = {
      .party = {.at_once = 100, .each = std::chrono::seconds(1)}};

  // Both must outlive it.
  PartyLog(Clock& clock, LogSink& log) : clock_(clock), log_(log) {}
  ~PartyLog();  // tells what was held back
  PartyLog(const PartyLog&) = delete;
  PartyLog& operator=(const PartyLog&) = delete;

  void Write(const Party& party, Share share, LogLevel level, std::string_view component,
             std::string_view message, std::initializer_list<LogField> fields);

 private:
  void TellUntold(Duration now, bool all) KILN_REQUIRES(mutex_);

  Clock& clock_;
  LogSink& log_;
  Mutex mutex_;
  LineQuota refusals_ KILN_GUARDED_BY(mutex_){kRefusals};
  LineQuota calls_ KILN_GUARDED_BY(mutex_){kCalls};
  Duration looked_at_ KILN_GUARDED_BY(mutex_){};  // for what is untold
};

}  // namespace kiln::ops
