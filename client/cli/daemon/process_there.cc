// SPDX-License-Identifier: MIT
#include "client/cli/daemon/process_there.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kiln::cli {
namespace {

// Its threads are gone, and its files and locks with them; only the number stays until its parent
// asks how it ended. A parent that never asks, such as the first process of a container, keeps it
// for ever. The first thread may end before the others, so that it has ended alone says nothing.
// Where /proc cannot be read nothing has ended.
bool HasEnded(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::ifstream file(process + "/stat");
  std::string stat;
  std::getline(file, stat);
  const size_t name_end = stat.rfind(')');  // the name in front of it may have any characters
  if (name_end == std::string::npos || !stat.substr(name_end).starts_with(") Z")) {
    return false;
  }
  std::error_code error;
  const std::filesystem::directory_iterator threads(process + "/task", error);
  return !error && std::distance(begin(threads), end(threads)) <= 1;
}

}  // namespace

// Signal 0 sends nothing and only asks.
bool ProcessIsThere(pid_t pid) { return (::kill(pid, 0) == 0 || errno != ESRCH) && !HasEnded(pid); }

}  // namespace kiln::cli
