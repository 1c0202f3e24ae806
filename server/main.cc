// SPDX-License-Identifier: MIT
// kilnd: flags and configuration -> a daemon that serves until it is asked to stop.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <map>
#include <pthread.h>
#include <thread>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/base/mutex.h"
#include "server/daemon.h"
#include "server/rpc/host.h"

namespace kiln::server {
namespace {

constexpr int kExitConfig = 2, kExitNoStart = 4, kExitInternal = 70;
constexpr Duration kLook = std::chrono::milliseconds(500);  // how often idleness is looked at

struct Arguments {
  std::map<std::string, std::string> flags;
  std::string config_file;
  bool autostart = false;
  int ready_fd = -1;
};

void Tell(int fd, const nlohmann::ordered_json& line) {
  if (fd >= 0) {
    const std::string text =
        line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    (void)!write(fd, text.data(), text.size());
    (void)close(fd);
  }
}

int Fail(const Arguments& arguments, const StartFailure& failure, int code) {
  fmt::print(stderr, "kilnd: {}: {}\n", failure.component, failure.what);
  Tell(arguments.ready_fd, {{"ready", false},
                            {"component", failure.component},
                            {"what", failure.what},
                            {"hint", failure.hint}});
  return code;
}

// Who a signal is for; null once the daemon is being taken down.
struct SignalTarget {
  Mutex mutex;
  Daemon* daemon KILN_GUARDED_BY(mutex) = nullptr;
};

// First signal: drain. Second, or one while it goes down: exit at once; nothing acknowledged is
// lost.
[[noreturn]] void HandleSignals(const sigset_t& signals, SignalTarget& target) {
  for (bool first = true;; first = false) {
    int number = 0;
    (void)sigwait(&signals, &number);
    const MutexLock lock(target.mutex);
    if (!first || target.daemon == nullptr) {
      _exit(128 + number);
    }
    target.daemon->RequestStop(Daemon::Ask::kDrain);
  }
}

int Serve(const Arguments& arguments, const Config& config) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  (void)pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before there are threads
  (void)signal(SIGPIPE, SIG_IGN);
  SystemClock clock;
  const bool text =
      config.log_format == "text" || (config.log_format == "auto" && isatty(STDERR_FILENO) == 1);
  ops::LineLog log(stderr, text ? ops::LogFormat::kText : ops::LogFormat::kJson, config.log_level,
                   clock);
  StartFailure failure;
  Result<std::unique_ptr<Daemon>> daemon =
      Daemon::Start({.config = config, .started_by = arguments.autostart ? "autostart" : "serve"},
                    clock, log, failure);
  if (!daemon.ok()) {
    return Fail(arguments, failure, kExitNoStart);
  }
  Tell(arguments.ready_fd, {{"ready", true}, {"pid", getpid()}, {"socket", (*daemon)->socket()}});
  SignalTarget target;
  {
    const MutexLock lock(target.mutex);
    target.daemon = daemon->get();
  }
  std::thread([&] { HandleSignals(signals, target); }).detach();  // lives until the process ends
  Daemon::Ask ask = Daemon::Ask::kNothing;
  while (ask == Daemon::Ask::kNothing) {
    ask = (*daemon)->Wait(kLook);
  }
  if (ask == Daemon::Ask::kDrain) {
    (*daemon)->Drain();
  }
  {
    const MutexLock lock(target.mutex);
    target.daemon = nullptr;
  }
  daemon->reset();
  log.Write(LogLevel::kInfo, "daemon", "stopped");
  _exit(0);  // gRPC may stall for seconds in its own exit, and the handler uses this frame
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "The kiln daemon: compiles and caches shader variants.\n\n"
      "  kilnd\n  kilnd --cache.dir /var/cache/kiln --jobs.workers 8\n");
  app.set_version_flag("--version", fmt::format("kilnd {}", rpc::kVersion));
  app.add_option("--config", arguments.config_file, "Configuration file (TOML)");
  app.add_flag("--autostart", arguments.autostart, "Started by a client: stops when idle");
  app.add_option("--ready-fd", arguments.ready_fd, "Descriptor for one line of JSON when ready");
  for (const std::string_view key : ConfigKeys()) {
    app.add_option_function<std::string>(
        "--" + std::string(key),
        [&arguments, key](const std::string& text) { arguments.flags[std::string(key)] = text; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : kExitConfig;
  }
  ConfigSources sources{.flags = arguments.flags,
                        .file = std::nullopt,
                        .environment = [](const std::string& name) -> std::optional<std::string> {
                          const char* value = std::getenv(name.c_str());
                          return value == nullptr ? std::nullopt
                                                  : std::optional<std::string>(value);
                        }};
  if (!arguments.config_file.empty()) {
    sources.file = arguments.config_file;
  }
  const Result<Config> config = LoadConfig(sources);
  if (!config.ok()) {
    return Fail(arguments,
                {.component = "config", .what = config.error().context, .hint = "repair that key"},
                kExitConfig);
  }
  return Serve(arguments, *config);
}

}  // namespace
}  // namespace kiln::server

int main(int argc, char** argv) {
  try {
    return kiln::server::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kilnd: internal error: {}\n", error.what());
    return kiln::server::kExitInternal;
  }
}
