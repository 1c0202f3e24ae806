// SPDX-License-Identifier: MIT
// The only place where a daemon is put together: store, engine, queue, workers, services, socket.
// Usable in any process; main.cc adds signals and the word to whoever started it. spec/daemon 14
//
// Threads: RequestStop, Wake and GiveUp from any thread; the rest by the owner.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "compiler/driver/fingerprint.h"
#include "server/config.h"
#include "server/ops/line_log.h"
#include "server/stop_watchdog.h"

namespace kiln::server {

// Why a daemon did not start, as `--ready-fd` tells it.
struct StartFailure {
  std::string component;  // config, socket, security, rpc, metrics, store
  std::string what;
  std::string hint;
};

// Descriptors of sockets that listen already (socket activation); below 0: none.
struct PassedSockets {
  int unix_socket = -1;
  int tcp = -1;
  int metrics = -1;
};

class Daemon {
 public:
  struct Options {
    Config config;
    std::string started_by = "serve";  // autostart, serve, systemd
    // Reads the configuration again; null: it cannot change.
    std::function<Result<Config>()> reload = nullptr;
    PassedSockets passed = {};
    // See SqliteOptions; kilnd itself.
    std::string salvage_program;
    // Called before the store is opened, when the socket answers already; null: nobody wants to
    // know. Tests hold a start up with it.
    std::function<void()> opening = nullptr;
    // Called before everything that is done for a call ("Compile") and for a batch or a watch
    // ("store"); null but in tests, which make it throw and hang.
    std::function<void(std::string_view where)> fault = nullptr;
    // Ends the process if the daemon does not end in time; outlives it. Null: nobody does.
    StopWatchdog* watchdog = nullptr;
    // Whether what is made here may go to upstreams: not from a private build (spec/cache 2.5.2).
    bool writes_upstream = !driver::IsPrivateBack() && !driver::IsPrivateFront(ir::Language::kRpl);
  };

  // Serves when it returns, and answers that it starts before that. Clock and log must outlive the
  // daemon. A store that cannot be opened costs persistence only (DEGRADED), one that another
  // process owns is a failure.
  static Result<std::unique_ptr<Daemon>> Start(const Options& options, Clock& clock,
                                               ops::LineLog& log, StartFailure& failure);
  // Stops at once if Drain was not called: cancels what runs, loses nothing acknowledged.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  const std::string& socket() const;
  std::string tcp() const;      // HOST:PORT, empty without
  std::string metrics() const;  // HOST:PORT or unix:PATH, empty without

  // Takes what a running daemon can take of a changed configuration. Errors: kInvalidArgument with
  // reason BAD_CONFIG; what was in force stays.
  Result<ConfigChange> Reload();

  enum class Ask : uint8_t { kNothing, kDrain, kShutDown };
  // What clients and idleness ask for: waits until there is something, at most for `timeout`.
  Ask Wait(Duration timeout);
  void RequestStop(Ask ask);
  void Wake();  // makes Wait return, with nothing if there is nothing

  // The process is about to end at once because somebody wants that: what runs is not to blame.
  void GiveUp();

  // Refuses new work, then waits until nothing runs, at most for the drain timeout. The watchdog
  // gives it and what follows kMargin more.
  void Drain();

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace kiln::server
