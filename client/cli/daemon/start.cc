// SPDX-License-Identifier: MIT
// `kiln start` (spec/cli 6.12): starts a daemon of this user in the background and returns when it
// answers. Two of them at the same time start one daemon, since kilnd takes the lock of its cache
// before it listens (spec/daemon 14).
#include "client/cli/daemon/start.h"

#include <fmt/format.h>

#include "client/autostart.h"
#include "client/cli/add_verb.h"
#include "client/cli/daemon/daemon_process.h"
#include "client/cli/failure.h"

namespace kiln::cli {
namespace {

// That one runs already is success, as with `kiln stop` and none.
int RunStart(const Global& global) {
  if (!DaemonAddress(global).starts_with("unix:")) {
    return Fail(global, {.code = ErrorCode::kInvalidArgument,
                         .context = "only a daemon of this user is started: --daemon unix:PATH",
                         .reason = "USAGE"});
  }
  const Result<client::ServerInfo> running = InfoOf(global);
  if (running.ok()) {
    ShowDaemon(global, "running", *running,
               fmt::format("kilnd {} is running already (pid {})", running->version, running->pid));
    return kSuccess;
  }
  // Somebody answers there, or the address is wrong. Starting a second daemon would not help and
  // might hide that.
  if (running.error().code == ErrorCode::kPermissionDenied ||
      running.error().code == ErrorCode::kInvalidArgument) {
    return Fail(global, running.error());
  }
  const Result<void> started = client::StartDaemon(SocketOf(global));
  if (!started.ok()) {
    return Fail(global, started.error());
  }
  const Result<client::ServerInfo> info = InfoOf(global);
  if (!info.ok()) {
    return Fail(global, info.error());
  }
  ShowDaemon(global, "started", *info,
             fmt::format("started kilnd {} (pid {}) at {}", info->version, info->pid,
                         DaemonAddress(global)));
  return kSuccess;
}

}  // namespace

void AddStart(CLI::App& app, CommandLine& line) {
  AddVerb(app, line,
          {"start", "Start the daemon in the background", "  kiln start\n  kiln start --json"},
          [&line] { return RunStart(line.global); });
}

}  // namespace kiln::cli
