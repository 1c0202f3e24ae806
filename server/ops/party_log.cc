// SPDX-License-Identifier: MIT
// Log lines about calls, bounded for each party: nobody can fill the log by calling often. What is
// held back is counted and told later. One mutex guards both quotas.
#include "server/ops/party_log.h"

#include <optional>
#include <vector>

namespace kiln::ops {
namespace {

constexpr Duration kLook = std::chrono::seconds(10);  // how often the untold is looked for

}  // namespace

// The counts that nobody has seen would go with the process.
PartyLog::~PartyLog() {
  const MutexLock lock(mutex_);
  TellUntold(clock_.Monotonic(), true);
}

void PartyLog::Write(const Party& party, Share share, LogLevel level, std::string_view component,
                     std::string_view message, std::initializer_list<LogField> fields) {
  if (party.is_owner()) {
    return log_.Write(level, component, message, fields);
  }
  std::vector<LogField> told(fields);
  // The owner's lines do not name him, as there is only one. All others are named, so that a flood
  // has a name.
  told.emplace_back("party", party.name());
  const MutexLock lock(mutex_);
  const Duration now = clock_.Monotonic();
  const std::optional<uint64_t> held_back =
      (share == Share::kRefusals ? refusals_ : calls_).Take(party.name(), now);
  if (held_back.has_value()) {
    if (*held_back != 0) {
      told.emplace_back("held_back", *held_back);
    }
    log_.Take({.level = level, .component = component, .message = message, .fields = told});
  }
  // There is no timer: lines of others carry out what is untold.
  if (now - looked_at_ >= kLook) {
    TellUntold(now, false);
  }
}

void PartyLog::TellUntold(Duration now, bool all) {
  looked_at_ = now;
  for (LineQuota* const quota : {&refusals_, &calls_}) {
    for (const LineQuota::HeldBack& row : quota->Untold(now, all)) {
      log_.Write(LogLevel::kInfo, "rpc", "lines of a party were held back",
                 {{"party", row.party}, {"held_back", row.lines}});
    }
  }
}

}  // namespace kiln::ops
