// SPDX-License-Identifier: MIT
// What a daemon consists of. Private to daemon.cc (a daemon that runs), daemon_start.cc (what
// answers before the store is open) and daemon_engine.cc (the store and what builds). Members go in
// the opposite of their order, which is that of their references.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/bounded_pins.h"
#include "cache/explain_ring.h"
#include "cache/held_leases.h"
#include "cache/sqlite/batch_table.h"
#include "cache/sqlite/explain_table.h"
#include "cache/sqlite/lease_tables.h"
#include "cache/sqlite/maintenance.h"
#include "compiler/base/mutex.h"
#include "server/compile/batch.h"
#include "server/compile/cached_build.h"
#include "server/compile/pack_shelf.h"
#include "server/compile/program_pool.h"
#include "server/compile/result_audit.h"
#include "server/daemon.h"
#include "server/jobs/crash_guard.h"
#include "server/jobs/memory_queue.h"
#include "server/jobs/worker.h"
#include "server/ops/http_listener.h"
#include "server/ops/machine.h"
#include "server/ops/trace_export.h"
#include "server/pressure_monitor.h"
#include "server/reload/subscriptions.h"
#include "server/rpc/deferred_engine.h"
#include "server/rpc/host.h"
#include "server/rpc/request_cache.h"
#include "server/rpc/rpc_server.h"
#include "server/store_stack.h"
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

  // In the order in which a start calls them: daemon_start.cc, and from OpenStore on
  // daemon_engine.cc.
  Result<void> Listen(const Options& options);
  Result<void> ListenForOwner(bool may_fail);
  Result<void> Guard();
  size_t MostConnections();
  rpc::Connections::Options ConnectionOptions();
  void ExportTraces();
  void MakeHost();
  Result<void> Answer();
  Result<void> ServeMetrics(int passed);
  Result<void> OpenStore();
  void MakeEngine();
  std::vector<CacheUsage> CachesInMemory();
  void Serve();

  rpc::StoreAdmin WholeStore();
  // Of compile::Batches: null where nothing is kept in a file.
  std::function<uint64_t()> LossesOfStore();
  void OpenAttempts();
  void MakeSecondLook();
  void ReadMetrics();
  Result<ConfigChange> Reload();
  ops::HttpReply AnswerTo(std::string_view path);
  void WatchLoad();
  void ShowUpstream();
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
  std::unique_ptr<rpc::UnixListener> listener;
  std::unique_ptr<rpc::UnixListener> owners;  // null: the other one is the owner's alone
  std::optional<ops::TcpListener> tcp;
  std::unique_ptr<ops::AuditLog> audit;
  std::unique_ptr<ops::TraceExport> otlp;
  std::optional<ops::TokenBook> tokens;
  std::optional<ops::Access> access;
  std::optional<rpc::Connections> connections;
  std::optional<ops::PartyLog> party_log;
  Stack stack;
  std::optional<cache::sqlite::ExplainTable> explain_table;  // these with a file only
  std::optional<cache::sqlite::LeaseTable> leases;
  std::optional<cache::sqlite::PinTable> pins;
  std::optional<cache::HeldLeases> held;
  std::optional<cache::BoundedPins> bounded_pins;  // what everybody pins with
  std::optional<cache::sqlite::BatchTable> batch_rows;
  std::optional<cache::sqlite::StoreMaintenance> maintenance;
  std::optional<cache::ExplainRing> explains;
  std::unique_ptr<jobs::CrashGuard> attempts;  // null: without a file
  uint64_t poisoned_by_crash = 0;
  std::optional<compile::ProgramPool> pool;
  std::optional<worker::Pool> worker_pool;
  std::optional<compile::Recipes> recipes;
  std::optional<compile::CachedBuild> builder;
  std::optional<compile::ResultAudit> second_look;  // nothing if nothing is looked at again
  ops::TraceRing traces;
  rpc::OpenStreams streams{clock, log};
  std::optional<rpc::ByteRoom> uploads;
  rpc::ByteRoom readers{config.slow_reader_bytes};
  std::optional<jobs::MemoryQueue> queue;
  std::optional<jobs::Workers> workers;
  std::optional<compile::PackShelf> shelf;
  std::optional<compile::Batches> batches;
  std::optional<reload::Subscriptions> watches;
  rpc::RequestCache requests;
  rpc::DeferredEngine engine;
  std::string last_crash;  // set before the state is Ready
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
