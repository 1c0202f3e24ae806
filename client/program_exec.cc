// SPDX-License-Identifier: MIT
#include "client/program_exec.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <optional>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace kiln::client {
namespace {

constexpr auto kLeavingTime = std::chrono::seconds(25);  // a drain takes 20 s at most
constexpr size_t kShownOfABuild = 12;

// The same file, however it is named. A program that was replaced since is not.
bool Runs(uint64_t pid, const std::string& program) {
  struct stat running {};
  struct stat ours {};
  return ::stat(fmt::format("/proc/{}/exe", pid).c_str(), &running) == 0 &&
         // Device and number tell a file from its replacement. After an update the running process
         // still has the old file, under the same path.
         ::stat(program.c_str(), &ours) == 0 && running.st_dev == ours.st_dev &&
         running.st_ino == ours.st_ino;
}

// What `kilnd --build-id` says; nothing if it says nothing.
// The installed program is asked for its build, which costs a process start of some milliseconds,
// and only if another file runs than the one that is installed.
std::optional<std::string> BuildOf(std::string program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  posix_spawn_file_actions_t actions;
  (void)::posix_spawn_file_actions_init(&actions);
  (void)::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  (void)::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string flag = "--build-id";
  const std::array<char*, 3> arguments{program.data(), flag.data(), nullptr};
  pid_t pid = 0;
  const int failed =
      ::posix_spawnp(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  (void)::posix_spawn_file_actions_destroy(&actions);
  // The child has its own copy; with this one open the read would never see the end.
  (void)::close(ends[1]);
  std::string said;
  std::array<char, 256> buffer{};
  while (failed == 0) {
    const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
    if (got <= 0 && !(got < 0 && errno == EINTR)) {
      break;
    }
    said.append(buffer.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
  }
  (void)::close(ends[0]);
  if (failed == 0) {
    (void)::waitpid(pid, nullptr, 0);
  }
  const size_t end = said.find('\n');
  return end == std::string::npos || end == 0 ? std::nullopt : std::optional(said.substr(0, end));
}

// Whether the process ended in time. A zombie counts as ended: it has no program any more.
bool WaitUntilGone(uint64_t pid) {
  const auto until = std::chrono::steady_clock::now() + kLeavingTime;
  const std::string program = fmt::format("/proc/{}/exe", pid);
  struct stat running {};
  // Waiting for the process and not for its socket: the store is free when it is gone.
  while (::stat(program.c_str(), &running) == 0) {
    if (std::chrono::steady_clock::now() >= until) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

Result<void> CheckApi(const ServerInfo& info) {
  if (info.api_min <= kApiMax && info.api_max >= kApiMin) {
    return {};
  }
  return Error{.code = ErrorCode::kUnavailable,
               .context = fmt::format("kilnd {} speaks versions {} to {} of the protocol, this "
                                      "program {} to {}; install the same release of both",
                                      info.version, info.api_min, info.api_max, kApiMin, kApiMax),
               .reason = "API_MISMATCH"};
}

Handover OfferHandover(Client& client, const ServerInfo& info, const std::string& program) {
  if (info.build_id.empty() || Runs(info.pid, program)) {
    return {};
  }
  const std::optional<std::string> build = BuildOf(program);
  if (!build.has_value() || *build == info.build_id) {
    return {};
  }
  const Result<ServerStatus> status = client.Status();
  // One connection is this one. A daemon that others use, or that was started by hand, is never
  // ended on behalf of a command; a warning says that its artifacts are of another build.
  const bool alone = status.ok() && status->connections <= 1 && status->batches.empty();
  if (info.started_by == "autostart" && alone && client.Drain().ok() && WaitUntilGone(info.pid)) {
    return {.drained = true};
  }
  return {.warning = fmt::format("artifacts come from build {} of kilnd, which runs already; this "
                                 "program belongs to build {}",
                                 info.build_id.substr(0, kShownOfABuild),
                                 build->substr(0, kShownOfABuild))};
}

}  // namespace kiln::client
