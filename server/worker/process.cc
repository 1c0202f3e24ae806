// SPDX-License-Identifier: MIT
// One child process: started, stopped and continued, asked how much it has used, and ended for
// certain. Owned by one thread of the pool at a time.
#include "server/worker/process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "compiler/base/threads/child_process.h"
#include "server/worker/child.h"

namespace kiln::worker {
namespace {

// The end of what it said is what tells why it died: spec/daemon 12.2 and 9.2.
constexpr size_t kMaxSaid = size_t{16} << 10;
constexpr auto kPoliteness = std::chrono::milliseconds(50);

Error NotStarted(std::string_view why) {
  return {.code = ErrorCode::kUnavailable,
          .context = fmt::format("no worker process: {}", why),
          .reason = "WORKER_GONE"};
}

void Close(int& descriptor) {
  if (descriptor >= 0) {
    (void)::close(descriptor);
    descriptor = -1;
  }
}

// The end of what is in a pipe, without waiting.
// The pipe does not block: a child of the process may hold the other end open for ever.
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

// How a process ended, in words; nothing while it runs. Waits for ever with options 0, not at all
// with WNOHANG.
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

// One end of a socket pair and one of a pipe for its stderr are all that the child gets
// (spec/daemon 12.2).
Result<std::unique_ptr<Process>> Process::Start(const std::string& program) {
  // The program that runs now, even if its file was replaced meanwhile: worker and daemon have to
  // be of one build.
  const std::string path = program.empty() ? "/proc/self/exe" : program;
  std::array<int, 2> sockets{-1, -1};
  std::array<int, 2> errors{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0 ||
      ::pipe2(errors.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    const int error = errno;
    Close(sockets[0]);
    Close(sockets[1]);
    return NotStarted(std::strerror(error));
  }
  const Result<pid_t> pid =
      StartChild({.path = path,
                  .words = {"kilnd-worker", kWorkerFlag},
                  .descriptors = {{.from = errors[1], .to = STDERR_FILENO},
                                  {.from = sockets[1], .to = kWorkerSocket}}});
  // The child's ends must not stay open here, or the end of the child would never be the end of the
  // stream.
  Close(sockets[1]);
  Close(errors[1]);
  if (!pid.ok()) {
    Close(sockets[0]);
    Close(errors[0]);
    return NotStarted(pid.error().context);
  }
  return std::unique_ptr<Process>(new Process(*pid, sockets[0], errors[0]));
}

Process::~Process() {
  if (pid_ > 0) {
    (void)End();
  }
  Close(socket_);
  Close(errors_);
}

// A signal ends the wait early; callers wait in a loop until their deadline.
bool Process::WaitReadable(Duration time) const {
  pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return ::poll(&wait, 1, static_cast<int>(ms)) > 0;
}

// For batch work while interactive work waits (spec/daemon 5.4). Requires: the process is not
// waited for by the caller.
void Process::Stop() const { (void)::kill(pid_, SIGSTOP); }
void Process::Continue() const { (void)::kill(pid_, SIGCONT); }

// Asks first, then kills, and always waits for the end, so no zombie stays. A process that was
// stopped does not hear SIGTERM; it is killed after the same 50 ms.
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
  // From here on the number may be another process's.
  pid_ = 0;
  const std::string said = Said(errors_);
  return said.empty() ? death : death + ": " + said;
}

// The kernel's count of the process, which a job cannot change. Zero when it is gone.
Duration Process::CpuTime() const {
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    return Duration::zero();
  }
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

// Decides when a worker is recycled (spec/daemon 12.1). Zero where /proc does not tell.
uint64_t Process::ResidentBytes() const {
  std::ifstream file(fmt::format("/proc/{}/statm", pid_));
  uint64_t all = 0;
  uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace kiln::worker
