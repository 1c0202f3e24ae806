// SPDX-License-Identifier: MIT
#include "server/worker/process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "server/worker/child.h"

namespace kiln::worker {
namespace {

constexpr size_t kMaxSaid = size_t{16} << 10;
constexpr auto kPoliteness = std::chrono::milliseconds(50);

Error NotStarted(const std::string& program, int error) {
  return {.code = ErrorCode::kUnavailable,
          .context = fmt::format("cannot start worker '{}': {}", program, std::strerror(error)),
          .reason = "WORKER_GONE"};
}

void Close(int& descriptor) {
  if (descriptor >= 0) {
    (void)::close(descriptor);
    descriptor = -1;
  }
}

// The end of what is in a pipe, without waiting.
std::string Said(int pipe) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kMaxSaid) {
      text.erase(0, text.size() - kMaxSaid);
    }
  }
}

// Nothing while it runs.
std::string DeathOf(pid_t pid, int options) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(pid, &status, options);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) {
    return {};
  }
  if (ended < 0) {
    return "gone";
  }
  if (WIFSIGNALED(status)) {
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("exit {}", WEXITSTATUS(status));
}

}  // namespace

Result<std::unique_ptr<Process>> Process::Start(const std::string& program) {
  const std::string path = program.empty() ? "/proc/self/exe" : program;
  std::array<int, 2> sockets{-1, -1};
  std::array<int, 2> errors{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0 ||
      ::pipe2(errors.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    const int error = errno;
    Close(sockets[0]);
    Close(sockets[1]);
    return NotStarted(path, error);
  }
  posix_spawn_file_actions_t actions;
  (void)::posix_spawn_file_actions_init(&actions);
  (void)::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  (void)::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  (void)::posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
  (void)::posix_spawn_file_actions_adddup2(&actions, sockets[1], kWorkerSocket);
  posix_spawnattr_t attributes;
  (void)::posix_spawnattr_init(&attributes);
  sigset_t none;
  (void)::sigemptyset(&none);
  (void)::posix_spawnattr_setsigmask(&attributes, &none);  // the daemon's threads block some
  (void)::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::string name = "kilnd-worker";
  std::string flag = kWorkerFlag;
  const std::array<char*, 3> arguments{name.data(), flag.data(), nullptr};
  const std::array<char*, 1> environment{nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, path.c_str(), &actions, &attributes, arguments.data(),
                                  environment.data());
  (void)::posix_spawnattr_destroy(&attributes);
  (void)::posix_spawn_file_actions_destroy(&actions);
  Close(sockets[1]);
  Close(errors[1]);
  if (error != 0) {
    Close(sockets[0]);
    Close(errors[0]);
    return NotStarted(path, error);
  }
  return std::unique_ptr<Process>(new Process(pid, sockets[0], errors[0]));
}

Process::~Process() {
  if (pid_ > 0) {
    (void)End();
  }
  Close(socket_);
  Close(errors_);
}

bool Process::WaitReadable(Duration time) const {
  pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return ::poll(&wait, 1, static_cast<int>(ms)) > 0;
}

void Process::Stop() const { (void)::kill(pid_, SIGSTOP); }
void Process::Continue() const { (void)::kill(pid_, SIGCONT); }

std::string Process::End() {
  std::string death = DeathOf(pid_, WNOHANG);
  if (death.empty()) {
    (void)::kill(pid_, SIGTERM);
    const auto until = std::chrono::steady_clock::now() + kPoliteness;
    while (death.empty() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      death = DeathOf(pid_, WNOHANG);
    }
  }
  if (death.empty()) {
    (void)::kill(pid_, SIGKILL);
    death = DeathOf(pid_, 0);
  }
  pid_ = 0;
  const std::string said = Said(errors_);
  return said.empty() ? death : death + ": " + said;
}

uint64_t Process::ResidentBytes() const {
  std::ifstream file(fmt::format("/proc/{}/statm", pid_));
  uint64_t all = 0;
  uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace kiln::worker
