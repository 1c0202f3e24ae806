// SPDX-License-Identifier: MIT
// What every service needs of the daemon that it runs in.
#pragma once

#include <functional>
#include <string>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "server/jobs/queue.h"
#include "server/ops/line_log.h"
#include "server/ops/service_state.h"

namespace kiln::rpc {

inline constexpr std::string_view kVersion = "0.1.0";

struct Host {
  jobs::JobQueue& queue;
  ops::ServiceState& state;
  Clock& clock;
  LogSink& log;
  std::function<std::vector<ops::KeptWarning>()> warnings;  // the last ones
  std::function<void(Duration timeout)> drain;              // returns at once; zero: as configured
  std::function<void()> shut_down;                          // returns at once
  std::string socket;
  std::string started_by;  // autostart, serve
};

}  // namespace kiln::rpc
