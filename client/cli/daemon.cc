// SPDX-License-Identifier: MIT
// kiln serve, start and stop, and what kilnd does for operators: the life of the daemon as its user
// sees it.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "client/cli/json_line.h"
#include "client/cli/print.h"
#include "client/cli/verbs.h"

namespace kiln::cli {
namespace {

constexpr std::chrono::seconds kDrain{30};

std::string SocketOf(const Global& global) {
  std::string address = DaemonAddress(global);
  return address.starts_with("unix:") ? address.substr(5) : address;
}

// What became of the daemon. `state`: started, running, stopped, absent or draining.
void Tell(const Global& global, std::string_view state, const client::ServerInfo& info,
          const std::string& text) {
  if (global.json) {
    PrintLine({{"v", 1},
               {"type", "daemon"},
               {"state", state},
               {"version", info.version},
               {"pid", info.pid},
               {"address", DaemonAddress(global)}});
  } else if (!global.quiet) {
    Print("{}\n", text);
  }
}

// Who answers.
Result<client::ServerInfo> InfoOf(const Global& global) {
  KILN_TRY(const std::unique_ptr<client::Client> client, OpenDaemon(global));
  return client->Ping(client::kPing);
}

}  // namespace

int RunServe(const Global& global, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"--listen.unix=" + SocketOf(global)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return RunKilnd(global, std::move(words));
}

int RunKilnd(const Global& global, std::vector<std::string> words) {
  words.insert(words.begin(), client::DaemonProgram());
  if (global.json && words.size() > 1 && !words[1].starts_with("-")) {
    words.emplace_back("--json");
  }
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return Fail(global,
              {.code = ErrorCode::kUnavailable,
               .context = fmt::format("cannot run '{}': {}", words[0], std::strerror(errno)),
               .reason = "DAEMON_UNREACHABLE"});
}

int RunTokenVerb(const Global& global, const std::string& config, std::vector<std::string> words) {
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) {
      words.push_back(flag + value);
    }
  };
  add("--config=", config);
  if (const std::string address = DaemonAddress(global); address.starts_with("unix:")) {
    if (const auto running = client::Client::Open(address)->Ping(client::kPing); running.ok()) {
      add("--running-tokens=", running->tokens_file);
      add("--running-config=", running->config_file);
    }
  }
  return RunKilnd(global, std::move(words));
}

int RunStart(const Global& global) {
  if (!DaemonAddress(global).starts_with("unix:")) {
    return Fail(global, {.code = ErrorCode::kInvalidArgument,
                         .context = "only a daemon of this user is started: --daemon unix:PATH",
                         .reason = "USAGE"});
  }
  const Result<client::ServerInfo> running = InfoOf(global);
  if (running.ok()) {
    Tell(global, "running", *running,
         fmt::format("kilnd {} is running already (pid {})", running->version, running->pid));
    return kSuccess;
  }
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
  Tell(global, "started", *info,
       fmt::format("started kilnd {} (pid {}) at {}", info->version, info->pid,
                   DaemonAddress(global)));
  return kSuccess;
}

int RunStop(const Global& global, bool now) {
  Result<std::unique_ptr<client::Client>> client = OpenDaemon(global);
  const Result<client::ServerInfo> info =
      client.ok() ? (*client)->Ping(client::kPing) : Result<client::ServerInfo>(client.error());
  const bool is_ours = DaemonAddress(global).starts_with("unix:");
  if (!info.ok() && info.error().code == ErrorCode::kUnavailable && is_ours) {
    Tell(global, "absent", {}, "no daemon is running");
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
    Tell(global, "draining", *info, DaemonAddress(global) + " drains");
    return kSuccess;
  }
  const auto end = std::chrono::steady_clock::now() + kDrain;
  while (::kill(static_cast<pid_t>(info->pid), 0) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      return Fail(global, {.code = ErrorCode::kDeadlineExceeded,
                           .context = fmt::format("kilnd (pid {}) is still draining", info->pid),
                           .reason = "DRAIN"});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  Tell(global, "stopped", *info, fmt::format("stopped kilnd (pid {})", info->pid));
  return kSuccess;
}

}  // namespace kiln::cli
