// SPDX-License-Identifier: MIT
// kiln status, serve, start and stop: the life of the daemon as its user sees it.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/verbs.h"

namespace kiln::cli {
namespace {

constexpr std::chrono::milliseconds kPing{2'000};
constexpr std::chrono::seconds kDrain{30};

std::string SocketOf(const Global& global) {
  std::string address = DaemonAddress(global);
  return address.starts_with("unix:") ? address.substr(5) : address;
}

}  // namespace

int RunStatus(const Global& global) {
  const auto client = client::Client::Open(DaemonAddress(global));
  const Result<client::ServerInfo> info = client->Ping(kPing);
  if (!info.ok()) {
    return global.quiet ? int{kUnreachable}
                        : Fail(global, {.code = ErrorCode::kUnavailable,
                                        .context = fmt::format("no daemon answers at {}; start it "
                                                               "with 'kiln start'",
                                                               DaemonAddress(global)),
                                        .reason = "DAEMON_UNREACHABLE"});
  }
  const Result<client::ServerStatus> status = client->Status();
  if (!status.ok()) {
    return Fail(global, status.error());
  }
  const bool good = status->health == "SERVING" || status->health == "DEGRADED";
  if (global.json) {
    nlohmann::ordered_json lanes = nlohmann::ordered_json::object();
    for (const client::LaneStatus& lane : status->lanes) {
      lanes[lane.name] = {{"queued", lane.queued}, {"running", lane.running}};
    }
    const nlohmann::ordered_json object{{"v", 1},
                                        {"type", "status"},
                                        {"state", status->health},
                                        {"reasons", status->reasons},
                                        {"version", info->version},
                                        {"uptime_ms", info->uptime_ms},
                                        {"lanes", lanes},
                                        {"batches", status->batches},
                                        {"pid", info->pid}};
    fmt::print("{}\n", object.dump());
  } else if (!global.quiet) {
    fmt::print("{}  kilnd {} (pid {})  up {} s\n", status->health, info->version, info->pid,
               info->uptime_ms / 1000);
    for (const std::string& reason : status->reasons) {
      fmt::print("  reason {}\n", reason);
    }
    for (const client::LaneStatus& lane : status->lanes) {
      fmt::print("  {:<12} {} queued, {} running\n", lane.name, lane.queued, lane.running);
    }
    for (const std::string& batch : status->batches) {
      fmt::print("  batch {}\n", batch);
    }
  }
  return good ? kSuccess : kUnreachable;
}

int RunServe(const Global& global, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{client::DaemonProgram(), "--listen.unix=" + SocketOf(global)};
  words.insert(words.end(), arguments.begin(), arguments.end());
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

int RunStart(const Global& global) {
  const auto running = client::Client::Open(DaemonAddress(global))->Ping(kPing);
  if (running.ok()) {
    fmt::print("kilnd {} is running already (pid {})\n", running->version, running->pid);
    return kSuccess;
  }
  const Result<void> started = client::StartDaemon(SocketOf(global));
  if (!started.ok()) {
    return Fail(global, started.error());
  }
  const auto info = client::Client::Open(DaemonAddress(global))->Ping(kPing);
  if (!info.ok()) {
    return Fail(global, info.error());
  }
  fmt::print("started kilnd {} (pid {}) at {}\n", info->version, info->pid, DaemonAddress(global));
  return kSuccess;
}

int RunStop(const Global& global) {
  const auto client = client::Client::Open(DaemonAddress(global));
  const Result<client::ServerInfo> info = client->Ping(kPing);
  if (!info.ok()) {
    fmt::print("no daemon is running\n");
    return kSuccess;
  }
  const Result<uint64_t> drained = client->Drain();
  if (!drained.ok()) {
    return Fail(global, drained.error());
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
  fmt::print("stopped kilnd (pid {})\n", info->pid);
  return kSuccess;
}

}  // namespace kiln::cli
