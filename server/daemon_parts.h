// SPDX-License-Identifier: MIT
// What a daemon consists of besides its entrance and its engine: what services know of the process,
// the services, metrics, the stop. Private to daemon.cc. Members go in the opposite of their order,
// which is that of their references.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/mutex.h"
#include "server/daemon.h"
#include "server/daemon_engine.h"
#include "server/daemon_entrance.h"
#include "server/jobs/memory_queue.h"
#include "server/jobs/worker.h"
#include "server/ops/http_listener.h"
#include "server/ops/machine.h"
#include "server/ops/trace_export.h"
#include "server/pressure_monitor.h"
#include "server/rpc/deferred_engine.h"
#include "server/rpc/reactors/host.h"
#include "server/rpc/transport/rpc_server.h"
#include "server/worker/pool.h"

namespace kiln::server {

inline constexpr Duration kAutostartIdle = std::chrono::hours(3);

struct Daemon::Parts {
  Parts(const Options& options, Clock& use_clock, ops::LineLog& use_log)
      : config(options.config),
        read_config(options.reload),
        started_by(options.started_by),
        writes_upstream(options.writes_upstream),
        salvage_program(options.salvage_program),
        opening(options.opening),
        fault(options.fault),
        watchdog(options.watchdog),
        clock(use_clock),
        log(use_log),
        state(use_clock) {}

  Duration IdleTimeout(const Config& of) const {
    return of.idle_timeout.value_or(started_by == "autostart" ? kAutostartIdle : Duration::zero());
  }

  bool IsPolite() const {
    return config.polite == Config::Polite::kOn ||
           (config.polite == Config::Polite::kAuto && started_by == "autostart");
  }

  // In the order in which a start calls them, after those of the entrance; the engine makes itself
  // between OpenStore and Serve.
  void ExportTraces();
  void MakeQueue();
  void MakeHost();
  Result<void> Answer();
  Result<void> ServeMetrics(int passed);
  Result<void> OpenStore();
  void ReadMetrics();
  void Serve();

  Result<ConfigChange> Reload();
  ops::HttpReply AnswerTo(std::string_view path);
  void WatchLoad();
  void ShowUpstream();
  void GiveUp();
  // One thread is the owner's, one may have a job that runs long, one is for the others' short
  // ones.
  uint32_t ExpressThreads() const {
    return std::max(config.express, config.workers == 1 ? 2U : 1U);
  }
  uint64_t MemoryLimit(uint32_t percent) const { return memory_bytes / 100 * percent; }
  // Of messages that are arriving; uploads may hold half as much beside them.
  uint64_t ReceivingBytes() const {
    return config.receiving_bytes != 0 ? config.receiving_bytes : memory_bytes / 2;
  }
  // The drain is over then, at the latest, and the watchdog, if there is one, ends the process soon
  // after.
  void EndWithin(Duration time) KILN_REQUIRES(mutex);
  void EndInTime();  // the same with the time of the configuration, unless somebody named another
  void WaitsFor(std::string_view what);
  std::vector<std::string> WhatRuns();
  void StopJobs();
  void Ended();

  Config config;  // as it was at the start; what changes later is below
  const std::function<Result<Config>()> read_config;
  const std::string started_by;
  const bool writes_upstream;
  const std::string salvage_program;
  const std::function<void()> opening;
  const std::function<void(std::string_view where)> fault;
  StopWatchdog* const watchdog;  // null: nobody watches the end
  Clock& clock;
  ops::LineLog& log;
  ops::ServiceState state;
  ops::Metrics metrics;  // explain records are counted to the end
  DaemonEntrance entrance{config, clock, log};
  std::unique_ptr<ops::TraceExport> otlp;
  ops::TraceRing traces;
  rpc::OpenStreams streams{clock, log};
  std::optional<rpc::ByteRoom> uploads;
  rpc::ByteRoom readers{config.slow_reader_bytes};
  std::optional<jobs::MemoryQueue> queue;  // these from MakeQueue on
  std::optional<worker::Pool> worker_pool;
  std::optional<DaemonEngine> engine;
  rpc::DeferredEngine deferred;
  std::optional<jobs::Workers> workers;
  std::optional<rpc::Host> host;
  std::vector<std::shared_ptr<grpc::Service>> services;
  std::unique_ptr<rpc::RpcServer> server;
  std::unique_ptr<ops::HttpListener> http;
  const uint64_t memory_bytes = ops::MemoryBytes();
  std::optional<PressureMonitor> load;

  Mutex mutex;
  CondVar asked_changed;
  Ask asked KILN_GUARDED_BY(mutex) = Ask::kNothing;
  bool woken KILN_GUARDED_BY(mutex) = false;                      // Wait is to return
  Duration drain_until KILN_GUARDED_BY(mutex) = Duration::max();  // of the clock
  Duration idle_timeout KILN_GUARDED_BY(mutex) = IdleTimeout(config);
  Config current KILN_GUARDED_BY(mutex) = config;  // what was read last
};

}  // namespace kiln::server
