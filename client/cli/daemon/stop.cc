// SPDX-License-Identifier: MIT
// `kiln stop` (spec/cli 6.12, spec/daemon 14): asks the daemon to end and waits until its process
// is gone. No signal is sent: the daemon decides when its work is safe, and a daemon on another
// machine has no process here.
#include "client/cli/daemon/stop.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "client/cli/add_verb.h"
#include "client/cli/daemon/daemon_process.h"
#include "client/cli/daemon/process_there.h"
#include "client/cli/failure.h"

namespace kiln::cli {
namespace {

// Running work is finished first; this is how long a person waits before asking what goes on.
constexpr std::chrono::seconds kDrain{30};

// That no daemon runs is success: the state that was asked for is there. That holds for the user's
// own socket only; a remote address that does not answer may be a wrong address.
int RunStop(const Global& global, bool now) {
  Result<std::unique_ptr<client::Client>> client = OpenDaemon(global);
  const Result<client::ServerInfo> info =
      client.ok() ? (*client)->Ping(client::kPing) : Result<client::ServerInfo>(client.error());
  const bool is_ours = DaemonAddress(global).starts_with("unix:");
  if (!info.ok() && info.error().code == ErrorCode::kUnavailable && is_ours) {
    ShowDaemon(global, "absent", {}, "no daemon is running");
    return kSuccess;
  }
  if (!info.ok()) {
    return Fail(global, info.error());
  }
  const Result<void> asked = now ? (*client)->Shutdown() : (*client)->Drain();
  if (!asked.ok()) {
    return Fail(global, asked.error());
  }
  if (!is_ours) {  // its process is on another machine
    ShowDaemon(global, "draining", *info, DaemonAddress(global) + " drains");
    return kSuccess;
  }
  const auto end = std::chrono::steady_clock::now() + kDrain;
  // When the process is gone, its socket and the lock of its cache are free, which the next command
  // relies on.
  while (ProcessIsThere(static_cast<pid_t>(info->pid))) {
    if (std::chrono::steady_clock::now() > end) {
      return Fail(global, {.code = ErrorCode::kDeadlineExceeded,
                           .context = fmt::format("kilnd (pid {}) is still draining", info->pid),
                           .reason = "DRAIN"});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ShowDaemon(global, "stopped", *info, fmt::format("stopped kilnd (pid {})", info->pid));
  return kSuccess;
}

}  // namespace

void AddStop(CLI::App& app, CommandLine& line) {
  const auto now = std::make_shared<bool>(false);
  CLI::App* stop = AddVerb(
      app, line,
      {"stop", "Finish running work, then end the daemon", "  kiln stop\n  kiln stop --now"},
      [&line, now] { return RunStop(line.global, *now); });
  stop->add_flag("--now", *now, "Do not wait; nothing acknowledged is lost");
}

}  // namespace kiln::cli
