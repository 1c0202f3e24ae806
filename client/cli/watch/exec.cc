// SPDX-License-Identifier: MIT
#include "client/cli/watch/exec.h"

#include <array>
#include <cerrno>
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

}  // namespace

// Not std::system: it would keep Ctrl-C from this program while the command runs.
int RunCommand(const std::string& command, const std::set<std::string>& programs) {
  std::string changed = fmt::format("{}{}", kChanged, fmt::join(programs, " "));
  const std::vector<char*> environment = EnvironmentWith(changed);
  std::string text = command;
  std::string shell = "sh";
  std::string flag = "-c";
  const std::array<char*, 4> arguments = {shell.data(), flag.data(), text.data(), nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, "/bin/sh", nullptr, nullptr, arguments.data(), environment.data()) != 0) {
    return 127;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      return 127;
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace kiln::cli
