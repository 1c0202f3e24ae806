// SPDX-License-Identifier: MIT
// `kiln dashboard` (spec/cli 6.15): a page in the browser that shows what the daemon does, what the
// project's option spaces are, and why things were built. The command serves it on a loopback port
// for as long as it runs, and asks the daemon as every verb does: with the rights of its user, over
// the socket or over TLS with a token. The daemon has no part in it and no port more for it.
#include "client/cli/dashboard/dashboard.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/eventfd.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/dashboard/page_server.h"
#include "client/cli/failure.h"
#include "client/cli/heeded_signal.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/session.h"
#include "compiler/base/check.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cli {
namespace {

struct DashboardArguments {
  uint16_t port = 0;
};

void TellLink(const Global& global, const std::string& link) {
  if (global.json) {
    PrintLine({{"v", 1}, {"type", "link"}, {"url", link}});
  } else {
    Print("{}\n", link);
  }
  (void)std::fflush(stdout);
}

// All that the handler of signals touches. `wake` is -1 while nothing is served.
volatile std::sig_atomic_t stopped_by = 0;
volatile std::sig_atomic_t wake = -1;
constexpr int kTerminated = 128 + SIGTERM;

void OnSignal(int signal) {
  if (stopped_by != 0 || wake < 0) {
    std::_Exit(128 + signal);  // the second time: at once
  }
  stopped_by = signal;
  const uint64_t one = 1;
  (void)!::write(wake, &one, sizeof(one));
}

// Stops the server when a signal ends the command. The server's way to stop is none for a handler,
// so this one wakes a thread.
class StopsAtSignal {
 public:
  explicit StopsAtSignal(PageServer& server) : descriptor_(::eventfd(0, EFD_CLOEXEC)) {
    KILN_CHECK(descriptor_ >= 0);
    thread_ = Thread({.name = "signals", .after_throw = Thread::AfterThrow::kEnds},
                     [this, &server](const std::stop_token&) {
                       uint64_t count = 0;
                       while (::read(descriptor_, &count, sizeof(count)) < 0) {
                       }
                       if (stopped_by != 0) {
                         server.Stop();
                       }
                     });
    wake = descriptor_;
    HandleUnlessIgnored(SIGINT, OnSignal);
    HandleUnlessIgnored(SIGTERM, OnSignal);
  }
  // The server may have ended by itself.
  ~StopsAtSignal() {
    wake = -1;
    const uint64_t one = 1;
    (void)!::write(descriptor_, &one, sizeof(one));
    thread_.join();
    (void)::close(descriptor_);
  }
  StopsAtSignal(const StopsAtSignal&) = delete;
  StopsAtSignal& operator=(const StopsAtSignal&) = delete;

 private:
  const int descriptor_;
  Thread thread_;
};

Result<int> Run(const Global& global, const DashboardArguments& arguments) {
  KILN_TRY(const client::DaemonConnection connected, ConnectTo(global));
  PageApi api(global, *connected.client);
  PageServer* opened = nullptr;
  KILN_TRY(const std::unique_ptr<PageServer> server, PageServer::Listen(arguments.port, api, [&] {
             if (!global.quiet && !global.json) {
               Print(stderr, "kiln: the link was used; for another browser:\n");
             }
             TellLink(global, opened->NewLink());
           }));
  opened = server.get();
  const StopsAtSignal stops(*server);
  if (!global.quiet && !global.json) {
    Print(stderr, "kiln: open this link, which is good once; Ctrl-C ends\n");
  }
  TellLink(global, server->NewLink());
  server->Serve();
  // It ends by a signal, which is no failure but has its code.
  return stopped_by == SIGTERM ? kTerminated : int{kInterrupted};
}

int RunDashboard(const Global& global, const DashboardArguments& arguments) {
  return RunTimed(global, "dashboard", [&] { return Run(global, arguments); });
}

}  // namespace

void AddDashboard(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<DashboardArguments>();
  CLI::App* verb = AddVerb(app, line,
                           {"dashboard", "Show daemon, batches, options and reasons in a browser",
                            "  kiln dashboard\n  kiln dashboard --port 8080"},
                           [&line, arguments] { return RunDashboard(line.global, *arguments); });
  verb->add_option("--port", arguments->port, "Of 127.0.0.1; 0: any that is free");
}

}  // namespace kiln::cli
