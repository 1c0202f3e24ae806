// SPDX-License-Identifier: MIT
#include "client/cli/session.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "client/call_log.h"
#include "client/cli/failure.h"
#include "client/cli/global.h"
#include "client/cli/output/print.h"
#include "client/cli/output/progress.h"
#include "client/trace.h"
#include "compiler/base/text/duration_text.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);  // with a private daemon
constexpr auto kPatienceAtDeadline = std::chrono::milliseconds(500);

// The connection of this command.
struct Session {
  std::shared_ptr<client::PrivateDaemon> own;
  bool connected = false;
};

Session& Current() {
  // Never destroyed: the deadline thread may still look at it while the process ends.
  static auto* const session = new Session;
  return *session;
}

// By default a command on a build server leaves no daemon behind.
bool WantsPrivate(const Global& global) {
  if (global.no_daemon) {
    return true;
  }
  // A daemon that stays would hold the build machine's job open or serve the next job with the
  // rights of this one. Who names a daemon wants that one.
  const char* ci = std::getenv("CI");
  const char* address = std::getenv("KILN_DAEMON");
  const bool named = !global.daemon.empty() || (address != nullptr && *address != '\0');
  return global.autostart == "auto" && !named && ci != nullptr && *ci != '\0' &&
         std::string_view(ci) != "false" && std::string_view(ci) != "0";
}

// What the calls of this command took where the daemon is, stage by stage.
void PrintStages(const Global& global) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a call is booked behind its reply
  const Session& session = Current();
  // A connection of its own, because that of the verb is gone by now. Stages are an extra; if the
  // daemon cannot be asked, nothing is said.
  const Result<std::unique_ptr<client::Client>> client =
      session.own != nullptr
          ? Result<std::unique_ptr<client::Client>>(client::Client::Open(session.own->address()))
          : OpenDaemon(global);
  const Result<std::vector<client::CallTrace>> calls =
      client.ok() ? (*client)->Traces(client::TraceId())
                  : Result<std::vector<client::CallTrace>>(client.error());
  if (!calls.ok()) {
    return;
  }
  for (const client::CallTrace& call : *calls) {
    std::string stages;
    for (const client::CallTrace::Span& span : call.spans) {
      stages += fmt::format("  {} {:.1f}", span.name, static_cast<double>(span.us) / 1000);
    }
    Print(stderr, "kiln: {:<16} {:>9.1f} ms{}{}\n", call.method,
          static_cast<double>(call.us) / 1000, stages.empty() ? "" : "  of it", stages);
  }
}

}  // namespace

Result<void> BeginSession(Global& global) {
  client::BeginTrace();
  const char* environment = std::getenv("KILN_LOG");
  const std::string_view log = environment == nullptr ? "" : environment;
  // Flags win over the environment (spec/cli 2).
  if (!log.empty() && global.verbose == 0 && !global.quiet) {
    if (log != "error" && log != "info" && log != "verbose" && log != "debug") {
      return Error{
          .code = ErrorCode::kInvalidArgument,
          .context = fmt::format("KILN_LOG is '{}': one of error, info, verbose, debug", log),
          .reason = "USAGE"};
    }
    global.quiet = log == "error";
    global.verbose = log == "debug" ? 2 : log == "verbose" ? 1 : 0;
  }
  if (global.verbose > 1) {
    Print(stderr, "kiln: debug: trace {}, daemon {}\n", client::TraceId(), DaemonAddress(global));
    client::LogCalls([](const client::EndedCall& call) {
      Print(stderr, "kiln: debug: {} {} {} us trace {}\n", call.method, call.code, call.us,
            client::TraceId());
    });
  }
  return {};
}

Result<client::DaemonConnection> ConnectTo(const Global& global) {
  Session& session = Current();
  // Remembers that this command has a daemon, for the stages and for the end of a private one.
  const auto keep = [&](Result<client::DaemonConnection> connected) {
    if (connected.ok()) {
      session = {.own = connected->own, .connected = true};
    }
    return connected;
  };
  // A cache of its own, which is empty and goes with the daemon. So nothing is read from and
  // nothing is written to the user's.
  if (global.no_cache) {
    return keep(client::ConnectPrivately({.jobs = global.jobs, .own_cache = true}));
  }
  if (WantsPrivate(global)) {
    if (global.no_daemon) {
      return keep(client::ConnectPrivately({.jobs = global.jobs}));
    }
    // On a build machine a daemon that runs already is used, since somebody set it up for that; it
    // is only not started.
    Result<client::DaemonConnection> shared =
        client::Connect(EndpointOf(global), client::Autostart::kNo);
    return keep(shared.ok() ? std::move(shared) : client::ConnectPrivately({.jobs = global.jobs}));
  }
  if (global.jobs != 0) {
    Print(stderr, "kiln: -j is for a private daemon (--no-daemon); ignored\n");
  }
  const auto autostart =
      global.autostart == "no" ? client::Autostart::kNo : client::Autostart::kYes;
  KILN_TRY(client::DaemonConnection connected, client::Connect(EndpointOf(global), autostart));
  // A process that outlives the command is never started silently.
  if (connected.started && !global.quiet) {
    Print(stderr, "kiln: started kilnd {} (pid {})\n", connected.info.version, connected.info.pid);
  }
  if (!connected.warning.empty() && !global.quiet) {
    Print(stderr, "kiln: warning: {}\n", connected.warning);
  }
  return keep(std::move(connected));
}

bool IsPrivateDaemonInUse() { return Current().own != nullptr; }

void EndSession(const Global& global) {
  if (global.verbose > 0 && Current().connected) {
    PrintStages(global);
  }
  client::EndPrivateDaemons(kPatience);
}

Result<void> SetDeadline(const Global& global) {
  if (global.deadline.empty()) {
    return {};
  }
  const Duration time = ReadDuration(global.deadline).value_or(Duration::zero());
  if (time == Duration::zero()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("--deadline '{}' is not a duration like 500ms, 90s, 5m, 2h",
                                        global.deadline),
                 .reason = "USAGE"};
  }
  // A thread of its own, since the verb may be inside of any call. It is detached: a command that
  // is done in time does not wait for it.
  Thread({.name = "deadline", .after_throw = Thread::AfterThrow::kEnds},
         [global, time](const std::stop_token&) {
           std::this_thread::sleep_for(time);
           ClaimOutput();
           const int code =
               Fail(global, {.code = ErrorCode::kDeadlineExceeded,
                             .context = "the deadline of the command (" + global.deadline +
                                        ") has passed; what is finished is cached",
                             .reason = "DEADLINE"});
           // Nothing of the other threads is waited for: they may hang, which is why there is a
           // deadline. What they had finished is in the daemon.
           (void)EndCommand(global, {}, code);
           (void)std::fflush(stdout);
           client::EndPrivateDaemons(kPatienceAtDeadline);
           RestoreTerminal();
           std::_Exit(code);
         })
      .detach();
  return {};
}

}  // namespace kiln::cli
