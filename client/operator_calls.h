// SPDX-License-Identifier: MIT
// Calls about the daemon itself: who it is, how it is, what it does, its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::client {

struct Connection;

class OperatorCalls {
 public:
  // GetServerInfo within `timeout`. Errors: kUnavailable if nobody answers; of a daemon behind
  // https also kUnauthenticated for certificates, and kInvalidArgument for files that hold none,
  // with the cause.
  // A unix socket whose queue others keep full is tried again for as long.
  Result<ServerInfo> Ping(std::chrono::milliseconds timeout);
  // Check: the daemon asks its upstreams first, if it takes work.
  enum class Upstreams : uint8_t { kAsKnown, kCheck };
  Result<ServerStatus> Status(Upstreams upstreams = Upstreams::kAsKnown);
  // Calls with this trace id that the daemon remembers. Errors: kNotFound.
  Result<std::vector<CallTrace>> Traces(const std::string& id);
  Result<std::vector<JobRow>> Jobs();
  Result<void> KillJob(const std::string& id);  // errors: kNotFound
  // Begins to drain; the daemon exits when running work is done.
  Result<void> Drain();
  Result<void> Shutdown();  // at once
  struct ReloadOutcome {
    std::vector<std::string> changed, needs_restart;
  };
  Result<ReloadOutcome> ReloadConfig();
  Result<void> SetLogLevel(const std::string& component, const std::string& level);

 protected:
  explicit OperatorCalls(Connection& connection) : connection_(connection) {}
  ~OperatorCalls() = default;

 private:
  enum class Waits : uint8_t { kNo, kYes };  // for a connection
  Result<ServerInfo> PingOnce(std::chrono::milliseconds timeout, Waits waits);

  Connection& connection_;
};

}  // namespace kiln::client
