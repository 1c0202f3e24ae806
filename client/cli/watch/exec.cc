// SPDX-License-Identifier: MIT
#include "client/cli/watch/exec.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kiln::cli {
namespace {

constexpr std::string_view kChanged = "KILN_CHANGED=";
constexpr int kNoProcess = 127;
constexpr auto kPatience = std::chrono::seconds(1);

// The environment of this process with `entry` in the place of its variable. Pointers into both:
// valid as long as they are.
std::vector<char*> EnvironmentWith(std::string& entry) {
  std::vector<char*> environment = {entry.data()};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(kChanged)) {
      environment.push_back(*variable);
    }
  }
  environment.push_back(nullptr);
  return environment;
}

// 0: there is no process for it.
pid_t Start(const std::string& command, const std::set<std::string>& programs) {
  std::string changed = fmt::format("{}{}", kChanged, fmt::join(programs, " "));
  const std::vector<char*> environment = EnvironmentWith(changed);
  std::string text = command;
  std::string shell = "sh";
  std::string flag = "-c";
  const std::array<char*, 4> arguments = {shell.data(), flag.data(), text.data(), nullptr};
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  if (posix_spawnattr_init(&attributes) != 0) {
    return 0;
  }
  if (posix_spawn_file_actions_init(&files) != 0) {
    (void)posix_spawnattr_destroy(&attributes);
    return 0;
  }
  pid_t pid = 0;
  bool ready = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP) == 0 &&
               posix_spawnattr_setpgroup(&attributes, 0) == 0;
  // A group that is not in the foreground would be stopped where it reads from the terminal.
  if (::isatty(STDIN_FILENO) != 0) {
    ready = ready &&
            posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0;
  }
  if (!ready || posix_spawn(&pid, "/bin/sh", &files, &attributes, arguments.data(),
                            environment.data()) != 0) {
    pid = 0;
  }
  (void)posix_spawn_file_actions_destroy(&files);
  (void)posix_spawnattr_destroy(&attributes);
  return pid;
}

}  // namespace

// Not std::system: it would keep Ctrl-C from this program while the command runs.
int WatchCommand::Run(const std::string& command, const std::set<std::string>& programs) {
  pid_t pid = 0;
  {
    const MutexLock lock(mutex_);
    if (ended_) {
      return kNoProcess;
    }
    pid = Start(command, programs);
    if (pid == 0) {
      return kNoProcess;
    }
    runs_ = pid;
  }
  // The number stays the command's own until it is reaped, which only happens under the lock: End
  // never signals a group that is another one by then.
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  int status = 0;
  const MutexLock lock(mutex_);
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      status = kNoProcess << 8;
      break;
    }
  }
  runs_ = 0;
  changed_.NotifyAll();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void WatchCommand::End() {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  const MutexLock lock(mutex_);
  ended_ = true;
  if (runs_ != 0) {
    (void)::kill(-runs_, SIGTERM);
  }
  while (runs_ != 0 && std::chrono::steady_clock::now() < until) {
    (void)changed_.WaitFor(mutex_, until - std::chrono::steady_clock::now());
  }
  if (runs_ != 0) {
    (void)::kill(-runs_, SIGKILL);
  }
}

}  // namespace kiln::cli
