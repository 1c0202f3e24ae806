// SPDX-License-Identifier: MIT
#include "server/ops/crash_report.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <execinfo.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/files/file.h"
#include "compiler/base/threads/signal_stack.h"

namespace kiln::ops {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, 5> kDeadly = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE};
constexpr size_t kMostText = 4096;  // of a report that is shown

// What a handler may use: it can neither allocate nor take locks, so all is ready beforehand.
struct ReportTexts {
  std::array<char, 512> path{};
  std::array<char, 128> build{};
};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a handler has no other way
ReportTexts prepared;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local std::array<char, 40> crash_trace{};

// Everything from here to Report runs in a signal handler of a process that is broken. So there is
// no allocation, no lock and no stdio, only system calls, and backtrace, which was loaded
// beforehand.
void Put(int fd, const char* text) { (void)!write(fd, text, std::strlen(text)); }

const char* SignalName(int number) {
  switch (number) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    default:  // NOLINT: numbers, not an enumeration
      return "a signal";
  }
}

void Report(int number) {
  // O_EXCL: of several threads that die at once the first one writes. A name that somebody prepared
  // is not followed either.
  const int fd = open(prepared.path.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) {
    Put(fd, "kilnd ended by ");
    Put(fd, SignalName(number));
    Put(fd, "\nbuild ");
    Put(fd, prepared.build.data());
    Put(fd, "\ntrace ");
    Put(fd, crash_trace[0] == '\0' ? "none" : crash_trace.data());
    Put(fd, "\n");
    std::array<void*, 64> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    backtrace_symbols_fd(frames.data(), count, fd);
    (void)close(fd);
  }
  // The process still dies of the same signal, so that its parent sees what it was.
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

}  // namespace

void InstallCrashReport(const std::string& folder, std::string_view build_id) {
  const std::string path = fmt::format("{}/crash-{}.txt", folder, getpid());
  // Without a report the daemon works as well; a path that was cut off would name another file.
  if (path.size() + 1 > prepared.path.size()) {
    return;
  }
  std::memcpy(prepared.path.data(), path.c_str(), path.size() + 1);
  std::memcpy(prepared.build.data(), build_id.data(),
              std::min(build_id.size(), prepared.build.size() - 1));
  std::array<void*, 1> first{};
  (void)backtrace(first.data(), 1);  // loads what a handler could not load
  UseSignalStack();
  // A core would hold sources and secrets of all clients. See spec/daemon 14.9
  const rlimit none{};
  (void)setrlimit(RLIMIT_CORE, &none);
  struct sigaction action {};
  action.sa_handler = Report;
  // SA_ONSTACK makes the report of a stack overflow possible, and SA_RESETHAND ends the process if
  // the handler crashes as well.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
  for (const int number : kDeadly) {
    (void)sigaction(number, &action, nullptr);
  }
}

void SetCrashTrace(std::string_view trace) {
  UseSignalStack();
  const size_t size = std::min(trace.size(), crash_trace.size() - 1);
  std::memcpy(crash_trace.data(), trace.data(), size);
  crash_trace[size] = '\0';
}

std::optional<std::string> TakeCrashReports(const std::string& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("crash-") && name.ends_with(".txt")) {
      std::error_code ignored;
      found.emplace_back(fs::last_write_time(it->path(), ignored), it->path());
    }
  }
  // By time and then by name, the newest first.
  std::sort(found.rbegin(), found.rend());
  std::string text;
  for (const auto& [at, path] : found) {
    const Result<std::string> report = ReadFile(path.string());
    text += path.string() + "\n" + (report.ok() ? report->substr(0, kMostText) : std::string());
    // Renamed and not removed: whoever reports the crash wants the file. One that cannot be renamed
    // is told again by the next start.
    fs::rename(path, fs::path(path).replace_extension(".told"), error);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace kiln::ops
