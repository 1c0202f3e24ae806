// SPDX-License-Identifier: MIT
// kilnd: flags and configuration -> a daemon that serves until it is asked to stop; `config` and
// `token` do what operators need without one.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <pthread.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/sqlite/repair/salvage.h"
#include "compiler/base/mutex.h"
#include "compiler/base/printable.h"
#include "compiler/base/threads/thread.h"
#include "compiler/base/version.h"
#include "compiler/driver/fingerprint.h"
#include "server/admin_subcommands.h"
#include "server/config_table.h"
#include "server/daemon.h"
#include "server/faults.h"
#include "server/ops/crash_report.h"
#include "server/private_folder.h"
#include "server/rpc/transport/transport_log.h"
#include "server/service_host.h"
#include "server/stop_watchdog.h"
#include "server/worker/child.h"

namespace kiln::server {
namespace {

// As spec/cli 4 has them, since a command may hand them on.
constexpr int kExitConfig = 2, kExitNoStart = 4, kExitNoRoom = 5, kExitInternal = 70;
constexpr Duration kLook = std::chrono::milliseconds(500);  // how often idleness is looked at

struct Arguments {
  std::map<std::string, std::string> flags;
  std::string config_file;
  bool autostart = false;
  pid_t with_parent = 0;       // 0: none
  std::string private_folder;  // a pattern, then what was made of it; or empty
  bool private_cache = false;  // in that folder
  bool allow_root = false;
  bool json = false;
  int ready_fd = -1;
  std::string salvage, into;
  bool build_id = false;
  ConfigArguments config;
  TokenArguments token;
  std::string manual;  // folder
  mode_t umask = 077;  // of whoever started this
};

std::optional<std::string> Variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<Config> Load(const Arguments& arguments) {
  ConfigSources sources{.flags = arguments.flags, .file = std::nullopt, .environment = Variable};
  if (!arguments.config_file.empty()) {
    sources.file = arguments.config_file;
  }
  KILN_TRY(Config config, LoadConfig(sources));
  config.allow_root = arguments.allow_root;
  return config;
}

// The line goes to whoever started kilnd and waits on a descriptor. The descriptor is closed in
// every case, so that a reader never waits for ever.
void Tell(int fd, const nlohmann::ordered_json& line) {
  if (fd >= 0) {
    const std::string text =
        PrintableJson(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
        "\n";
    (void)!write(fd, text.data(), text.size());
    // One line and the end: whoever reads it waits for either.
    (void)close(fd);
  }
}

// People read stderr, and the command that started kilnd reads the line.
int Fail(const Arguments& arguments, const StartFailure& failure, int code) {
  fmt::print(stderr, "kilnd: {}: {}\n", failure.component, PrintableMessage(failure.what));
  Tell(arguments.ready_fd, {{"ready", false},
                            {"component", failure.component},
                            {"what", failure.what},
                            {"hint", failure.hint}});
  return code;
}

// The daemon that signals go to; null while it starts and once it is being taken down.
struct SignalTarget {
  Mutex mutex;
  Daemon* daemon KILN_GUARDED_BY(mutex) = nullptr;
  bool starting KILN_GUARDED_BY(mutex) = true;
  bool reload KILN_GUARDED_BY(mutex) = false;  // asked for; the main thread does it
};

// SIGHUP: applies the keys that can change; names the others in the log. On the main thread only.
void Reload(Daemon& daemon, LogSink& log) {
  Notify(Variable, "RELOADING=1");
  const Result<ConfigChange> change = daemon.Reload();
  if (!change.ok()) {
    log.Write(LogLevel::kError, "config", "the configuration stays as it was",
              {{"cause", change.error().context}});
  } else {
    log.Write(LogLevel::kInfo, "config", "read again",
              {{"changed", fmt::format("{}", fmt::join(change->at_once, ","))}});
    for (const std::string_view key : change->at_restart) {
      log.Write(LogLevel::kWarning, "config", "needs a restart", {{"key", key}});
    }
  }
  Notify(Variable, "READY=1");
}

// Every way out of a daemon that served or was about to.
[[noreturn]] void Leave(const Arguments& arguments, int code) {
  LeavePrivateFolder("/proc/self/exe", arguments.private_folder, code);
}

// The first signal drains. The second, or one during the start or end, makes the process exit at
// once; nothing acknowledged is lost.
[[noreturn]] void HandleSignals(const sigset_t& signals, SignalTarget& target,
                                const Arguments& arguments) {
  for (bool first = true;;) {
    int number = 0;
    // Signals are taken by a thread that waits for them. No handler runs in the middle of anything,
    // so locks and allocations are allowed here.
    (void)sigwait(&signals, &number);
    const MutexLock lock(target.mutex);
    if (number == SIGHUP) {  // may take time, which the next signal does not wait for
      target.reload = target.starting || target.daemon != nullptr;
      if (target.daemon != nullptr) {
        target.daemon->Wake();
      }
      continue;
    }
    if (target.starting) {
      Leave(arguments, 0);
    }
    if (target.daemon != nullptr && !first) {
      target.daemon->GiveUp();
    }
    if (!first || target.daemon == nullptr) {
      Leave(arguments, 128 + number);
    }
    first = false;
    target.daemon->RequestStop(Daemon::Ask::kDrain);
  }
}

// Before there are threads, and before anything is made that has to go when one of them comes.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  (void)pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  (void)signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Ends with the command that started it; only then it makes its folder, so that there is no moment
// in which the folder is there and nobody who removes it.
Result<void> JoinParent(Arguments& arguments) {
  // The kernel sends the signal when the parent ends from now on. That it had ended before can only
  // be seen by the parent being another one.
  (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != arguments.with_parent) {
    _exit(0);  // it was gone before it could be told
  }
  if (!arguments.private_folder.empty()) {
    Result<std::string> made = MakePrivateFolder(std::exchange(arguments.private_folder, {}));
    KILN_TRY(arguments.private_folder, std::move(made));
    arguments.flags["listen.unix"] = arguments.private_folder + "/kilnd.sock";
    if (arguments.private_cache) {
      arguments.flags["cache.dir"] = arguments.private_folder + "/cache";
    }
  }
  return {};
}

int Serve(const Arguments& arguments, const Config& config, const sigset_t& signals) {
  SystemClock clock;
  const bool text =
      config.log_format == "text" || (config.log_format == "auto" && isatty(STDERR_FILENO) == 1);
  ops::LineLog log(stderr, text ? ops::LogFormat::kText : ops::LogFormat::kJson,
                   config.log_levels.least, clock);
  log.SetLevels(config.log_levels);
  rpc::LogTransportTo(log);
  rpc::KeepTransport();
  if (geteuid() == 0) {
    log.Write(LogLevel::kWarning, "security", "kilnd runs as root; any other user will do");
  }
  const Result<PassedSockets> passed = SocketsOf(Variable);
  if (!passed.ok()) {
    Leave(arguments, Fail(arguments,
                          {.component = "socket",
                           .what = passed.error().context,
                           .hint = "repair FileDescriptorName= of the socket unit"},
                          kExitConfig));
  }
  const bool activated = passed->unix_socket >= 0;
  SignalTarget target;
  Thread({.name = "signals", .log = &log}, [&](const std::stop_token&) {
    HandleSignals(signals, target, arguments);
  }).detach();  // lives until the process ends
  // Made before the daemon, so that an end which hangs while it is being taken down is watched as
  // well.
  StopWatchdog watchdog(log, [] { _exit(StopWatchdog::kExitHung); });
  StartFailure failure;
  Daemon::Options options{.config = config,
                          .started_by = arguments.autostart          ? "autostart"
                                        : arguments.with_parent != 0 ? "private"
                                        : activated                  ? "systemd"
                                                                     : "serve",
                          .reload = [&arguments] { return Load(arguments); },
                          .passed = *passed,
                          .salvage_program = "/proc/self/exe",
                          .watchdog = &watchdog};
  AddFaults(options);
  Result<std::unique_ptr<Daemon>> daemon = Daemon::Start(options, clock, log, failure);
  if (!daemon.ok()) {
    Leave(arguments, Fail(arguments, failure, kExitNoStart));
  }
  ops::InstallCrashReport(config.cache_dir.string(), driver::BackFingerprint().hex());
  Notify(Variable, "READY=1");
  Tell(arguments.ready_fd, {{"ready", true},
                            {"pid", getpid()},
                            {"socket", (*daemon)->socket()},
                            {"folder", arguments.private_folder}});
  {
    const MutexLock lock(target.mutex);
    // From here on a signal asks the daemon to stop. Until now it ended the process, as nothing ran
    // yet.
    target.daemon = daemon->get();
    target.starting = false;
  }
  Daemon::Ask ask = Daemon::Ask::kNothing;
  // The main thread does what takes long: reloading and draining. The thread of the signals only
  // leaves a note, so a second signal is always taken.
  while (ask == Daemon::Ask::kNothing) {
    bool reload = false;
    {
      const MutexLock lock(target.mutex);
      reload = std::exchange(target.reload, false);
    }
    if (reload) {
      Reload(**daemon, log);
    }
    // An exception of a periodic check costs that check only.
    (void)CatchAll([&] { ask = (*daemon)->Wait(kLook); });
  }
  Notify(Variable, "STOPPING=1");
  if (ask == Daemon::Ask::kDrain) {
    (void)CatchAll([&] { (*daemon)->Drain(); });
  }
  {
    const MutexLock lock(target.mutex);
    target.daemon = nullptr;
  }
  // From here on signals end the process at once: `target.daemon` is null before the object goes.
  daemon->reset();
  log.Write(LogLevel::kInfo, "daemon", "stopped");
  Leave(arguments, 0);  // gRPC is still there, and the handler of signals uses this frame
}

void AddFlags(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", fmt::format("kilnd {}", kiln::Version()));
  app.add_option("--config", arguments.config_file, "Configuration file (TOML)");
  app.add_flag("--autostart", arguments.autostart, "Started by a client: stops when idle");
  app.add_option("--with-parent", arguments.with_parent,
                 "Started by the command with this process id: stops with it");
  // Of that command: where its folder is made, and whether the cache is in it.
  app.add_option("--private-folder", arguments.private_folder)->group("");
  app.add_flag("--private-cache", arguments.private_cache)->group("");
  app.add_flag("--allow-root", arguments.allow_root, "Serve TCP even as root");
  app.add_option("--ready-fd", arguments.ready_fd, "Descriptor for one line of JSON when ready");
  app.add_flag("--json", arguments.json, "config, token: one object per line");
  app.add_option("--salvage", arguments.salvage)->group("");  // of this program by itself
  app.add_option("--into", arguments.into)->group("");
  app.add_flag("--build-id", arguments.build_id)->group("");  // for clients of another build
  // Every key of the configuration is a flag of the same name. The text is checked with those of
  // the other places, not by the parser.
  for (const ConfigKey& key : ConfigTable()) {
    app.add_option_function<std::string>(
           "--" + std::string(key.key),
           [&arguments, name = std::string(key.key)](const std::string& text) {
             arguments.flags[name] = text;
           },
           fmt::format("{}; {}", key.meaning, key.expected))
        ->group("Configuration");
  }
}

// The subcommands that do not serve; `chosen` is set to the one on the command line.
void AddVerbs(CLI::App& app, Arguments& arguments, std::function<int()>& chosen) {
  CLI::App* config = app.add_subcommand("config", "The configuration in force");
  // Flags of the daemon are understood behind the verb as well: `kilnd config show
  // --jobs.workers=4` shows what a daemon with that flag would do.
  config->fallthrough()->require_subcommand(1);
  CLI::App* show = config->add_subcommand("show", "Every key and its value")->fallthrough();
  show->add_flag("--origin", arguments.config.origin, "And where the value comes from");
  show->callback([&] {
    chosen = [&] { return ShowConfig(Load(arguments), arguments.config, arguments.json); };
  });
  CLI::App* check = config->add_subcommand("check", "Read a file and say what is wrong with it");
  check->fallthrough();
  check->add_option("file", arguments.config.file, "Configuration file")->required();
  check->callback([&] {
    arguments.config_file = arguments.config.file;
    chosen = [&] { return CheckConfig(Load(arguments), arguments.config, arguments.json); };
  });
  CLI::App* manual = app.add_subcommand("manual", "Write the manual pages")->fallthrough();
  manual->group("")->add_option("--out", arguments.manual, "Folder")->required();
  manual->callback([&] {
    chosen = [&] {
      (void)umask(arguments.umask);  // pages are for everybody to read
      return WriteManual(arguments.manual, kiln::Version(), arguments.json);
    };
  });
  CLI::App* token = app.add_subcommand("token", "Tokens of TCP clients");
  token->fallthrough()->require_subcommand(1);
  token->add_option("--running-tokens", arguments.token.running_tokens)->group("");  // of kiln
  token->add_option("--running-config", arguments.token.running_config)->group("");
  // Only the verb that was chosen loads the configuration, and only after the whole command line
  // was understood.
  const auto verb = [&](const char* name, const char* what,
                        int (*run)(const Config&, const TokenArguments&, bool)) {
    CLI::App* added = token->add_subcommand(name, what)->fallthrough();
    added->callback([&, run] {
      chosen = [&, run]() -> int {
        const Result<Config> config_read = Load(arguments);
        return config_read.ok() ? run(*config_read, arguments.token, arguments.json)
                                : ShowConfig(config_read, {}, arguments.json);
      };
    });
    return added;
  };
  CLI::App* create = verb("create", "Make one and print its secret once", CreateToken);
  create->add_option("--scope", arguments.token.scope, "read, write, peer or admin")->required();
  create->add_option("--expires", arguments.token.expires, "How long it is valid, such as 90d");
  create->add_option("--note", arguments.token.note, "Who has it");
  create->add_option("--tenant", arguments.token.tenant, "Whose share of the daemon it uses");
  verb("list", "Show all, without secrets", ListTokens);
  verb("revoke", "Make one invalid at once", RevokeToken)
      ->add_option("id", arguments.token.id, "As token list shows it")
      ->required();
}

int Main(int argc, char** argv) {
  // Files, folders and sockets are this user's alone unless they are given another mode.
  Arguments arguments;
  arguments.umask = umask(077);
  CLI::App app(
      "The kiln daemon: compiles and caches shader variants.\n\n"
      "  kilnd\n  kilnd --cache.dir /var/cache/kiln --jobs.workers 8\n");
  std::function<int()> chosen;
  AddFlags(app, arguments);
  AddVerbs(app, arguments, chosen);
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream told;  // it repeats words of the caller
    const int code = app.exit(error, told, told);
    fmt::print(code == 0 ? stdout : stderr, "{}", PrintableLines(told.str()));
    return code == 0 ? 0 : kExitConfig;
  }
  // A damaged database is read by a process of its own, because reading it may end that process.
  if (!arguments.salvage.empty()) {
    return cache::sqlite::SalvageApart(arguments.salvage, arguments.into, arguments.with_parent);
  }
  if (arguments.build_id) {
    fmt::print("{}\n", driver::BackFingerprint().hex());
    return 0;
  }
  if (chosen) {
    return chosen();
  }
  const sigset_t signals = BlockSignals();
  if (arguments.with_parent != 0) {
    if (const Result<void> joined = JoinParent(arguments); !joined.ok()) {
      return Fail(arguments,
                  {.component = "folder", .what = joined.error().context, .hint = "set TMPDIR"},
                  kExitNoStart);
    }
  }
  const Result<Config> config = Load(arguments);
  if (!config.ok()) {
    Leave(arguments,
          Fail(arguments,
               {.component = "config", .what = config.error().context, .hint = "repair that key"},
               kExitConfig));
  }
  return Serve(arguments, *config, signals);
}

}  // namespace
}  // namespace kiln::server

int main(int argc, char** argv) {
  // Before anything else: a worker has no environment and must not open files, so it must not come
  // near flags and configuration.
  if (argc == 2 && std::string_view(argv[1]) == kiln::worker::kWorkerFlag) {
    return kiln::worker::RunChild(kiln::worker::kWorkerSocket);
  }
  if (argc == 4 && std::string_view(argv[1]) == kiln::server::kRemoveAfter) {
    return kiln::server::RemoveAfter(argv[2], argv[3]);
  }
  try {
    const int code = kiln::server::Main(argc, argv);
    // What was printed is whole, or the exit code says that it is not.
    return std::fflush(stdout) != 0 && code == 0 ? kiln::server::kExitNoRoom : code;
  } catch (...) {
    if (std::ferror(stdout) != 0) {  // fmt::print throws where stdout takes no more
      fmt::print(stderr, "error: cannot write to stdout\n");
      return kiln::server::kExitNoRoom;
    }
    fmt::print(stderr, "kilnd: internal error: {}\n", kiln::Printable(kiln::ThrownError().context));
    return kiln::server::kExitInternal;
  }
}
