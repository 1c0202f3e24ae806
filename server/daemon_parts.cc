// SPDX-License-Identifier: MIT
// The parts of the daemon in the order of their making, and of their end. Order is everything here:
// each part may use those that were made before it, and goes before them. What is asked of the
// daemon from outside (drain, shutdown, reload) is noted under `mutex` and done by the main thread.
#include "server/daemon_parts.h"

#include <chrono>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/version.h"
#include "compiler/driver/fingerprint.h"
#include "server/rpc/admin_service.h"
#include "server/rpc/batch_service.h"
#include "server/rpc/cache_service.h"
#include "server/rpc/compile_service.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/pack_service.h"
#include "server/rpc/watch_service.h"
#include "server/samples.h"

namespace kiln::server {
namespace {

constexpr Duration kGrace = std::chrono::milliseconds(500);  // for replies on their way
// For jobs that were asked to stop, which takes milliseconds unless they hang: two seconds in all.
constexpr std::chrono::milliseconds kBetweenLooks{5};
constexpr int kLooks = 400;

}  // namespace

// Without the file there is no export, and no work depends on it.
void Daemon::Parts::ExportTraces() {
  if (config.otlp.empty()) {
    return;
  }
  Result<std::unique_ptr<ops::TraceExport>> opened = ops::TraceExport::Open(
      config.otlp,
      {.version = std::string(Version()),
       .build_id = driver::BackFingerprint().hex(),
       .instance = std::to_string(getpid()) + "@" + entrance.listener->path()},
      log);
  if (opened.ok()) {
    otlp = std::move(opened).value();
  } else {
    log.Write(LogLevel::kWarning, "trace", "traces are not exported",
              {{"cause", opened.error().context}});
  }
}

// Jobs wait from here on; nothing runs them before Serve. Half of interactive threads for long
// jobs, rounded down: with three threads one.
void Daemon::Parts::MakeQueue() {
  const uint64_t interactive = config.workers + ExpressThreads();
  // One interactive thread is always the owner's, and long jobs have half of them. See spec/daemon
  // 5.3, 9.4
  queue.emplace(jobs::QueueLimits{.interactive = config.queue_interactive,
                                  .batch = config.queue_batch,
                                  .others_at_once = interactive - 1,
                                  .long_at_once = interactive / 2},
                clock, [this](jobs::Lane lane, Duration waited) {
                  metrics.Time("kiln_queue_wait_seconds", "lane",
                               lane == jobs::Lane::kInteractive ? "interactive" : "batch", waited);
                });
  queue->SetWeights(config.weights);
  worker_pool.emplace(
      worker::Pool::Options{
          .program = config.worker_program,
          .workers = config.workers,
          .interactive_wait = [this] { return queue->LongestWait(jobs::Lane::kInteractive); },
          .on_unfit =
              [this](const std::string& why) {
                log.Write(LogLevel::kError, "worker",
                          "a worker process cannot be locked in and gets no work",
                          {{"cause", why}});
              }},
      clock);
  load.emplace(PressureMonitor::Options{.workers = config.workers,
                                        .polite = IsPolite(),
                                        .drop_caches = [this] { engine->DropCaches(); }},
               *queue, state, clock, log);
  // Half of what may arrive: what was received has to lie somewhere until it is stored. See
  // spec/daemon 10
  uploads.emplace(ReceivingBytes() / 2);
  engine.emplace(EngineSurroundings{.config = config,
                                    .clock = clock,
                                    .log = log,
                                    .state = state,
                                    .metrics = metrics,
                                    .queue = *queue,
                                    .worker_pool = *worker_pool,
                                    .slowed_by = [this] { return load->slowed_by(); }});
}

// What the services know of the process around them.
void Daemon::Parts::MakeHost() {
  host.emplace(rpc::Host{
      .queue = *queue,
      .state = state,
      .access = *entrance.access,
      .connections = *entrance.connections,
      .audit = entrance.audit.get(),
      .metrics = metrics,
      .traces = traces,
      .otlp = otlp.get(),
      .streams = streams,
      .uploads = *uploads,
      .readers = readers,
      .clock = clock,
      .log = log,
      .party_log = *entrance.party_log,
      .warnings = [this] { return log.Warnings(); },
      .drain = nullptr,
      .shut_down = nullptr,
      .reload = [this]() -> Result<rpc::ReloadReport> {
        KILN_TRY(const ConfigChange change, Reload());
        return rpc::ReloadReport{
            .at_once = {change.at_once.begin(), change.at_once.end()},
            .at_restart = {change.at_restart.begin(), change.at_restart.end()}};
      },
      .set_log_level = [this](const std::string& component,
                              LogLevel level) { log.SetLevel(component, level); },
      .socket = entrance.listener->path(),
      .tcp = entrance.tcp.has_value() ? entrance.tcp->Address() : std::string(),
      .config_file = config.file,
      .tokens_file = entrance.tokens.has_value() ? entrance.tokens->path() : std::string(),
      .started_by = started_by,
      .limits = config.limits,
      .job_limits = {.worker_cpu = worker::Pool::Options{}.cpu,
                     .worker_wall = worker::Pool::Options{}.wall,
                     .worker_memory = worker::ChildLimits{}.memory_bytes,
                     .worker_attempts = static_cast<uint64_t>(worker::Pool::Options{}.attempts)},
      .language_limits = config.language_limits,
      .slowed_by = [this] { return load->slowed_by(); },
      .worker_rows = [this] { return WorkerRowsOf(*worker_pool); },
      .upstreams =
          [this](bool check, const cache::Call& call) {
            return UpstreamRows(engine->stack, check, call);
          },
      .last_crash = [this] { return engine->last_crash; },
      .caches = [this] { return engine->CachesInMemory(); },
      .memory_soft = MemoryLimit(config.memory_soft_percent),
      .memory_hard = MemoryLimit(config.memory_hard_percent),
      .fault = fault});
  // The stronger request wins: a shutdown is not weakened by a drain that comes after it.
  const auto ask = [this](Ask what, Duration timeout) {
    const MutexLock lock(mutex);
    EndWithin(timeout == Duration::zero() ? current.drain_timeout : timeout);
    asked = std::max(asked, what);
    asked_changed.NotifyAll();
  };
  host->drain = [this, ask](Duration timeout) {
    state.Drain();  // the reply comes when draining has begun
    ask(Ask::kDrain, timeout);
  };
  host->shut_down = [ask] { ask(Ask::kShutDown, Duration::zero()); };
}

// Starts the services: from here on status calls are answered, all others hear that it starts. All
// services are registered from the start; calls to them go through `deferred`, which refuses until
// the engine is there (spec/daemon 14.1).
Result<void> Daemon::Parts::Answer() {
  services.push_back(rpc::MakeCompileService(*host, deferred.engine()));
  services.push_back(rpc::MakeBatchService(*host, deferred.engine()));
  services.push_back(rpc::MakeWatchService(*host, deferred.engine()));
  services.push_back(rpc::MakePackService(*host, deferred.engine()));
  services.push_back(rpc::MakeCacheService(*host, deferred.engine()));
  services.push_back(rpc::MakeAdminService(*host, deferred.engine()));
  std::vector<grpc::Service*> borrowed;
  for (const std::shared_ptr<grpc::Service>& service : services) {
    borrowed.push_back(service.get());
  }
  KILN_TRY(server, rpc::RpcServer::Start(
                       borrowed, {.unix_socket = *entrance.listener,
                                  .owners_socket = entrance.owners.get(),
                                  .allow_uids = config.allow_uids,
                                  .tcp = entrance.tcp.has_value() ? &*entrance.tcp : nullptr,
                                  .tls = {.cert = config.tls_cert,
                                          .key = config.tls_key,
                                          .client_ca = config.tls_client_ca},
                                  .access = *entrance.access,
                                  .connections = *entrance.connections,
                                  .log = log,
                                  .receiving_bytes = ReceivingBytes(),
                                  .limits = config.limits}));
  server->Accept();
  return {};
}

// The pages for scrapers and load balancers.
ops::HttpReply Daemon::Parts::AnswerTo(std::string_view path) {
  const ops::Health health = state.health();
  const bool ready = health == ops::Health::kServing || health == ops::Health::kDegraded;
  if (path == "/metrics" && !state.Ready()) {
    return {.status = 503, .body = std::string(ops::HealthName(health)) + "\n"};
  }
  if (path == "/metrics") {
    return {.status = 200, .type = "text/plain; version=0.0.4", .body = metrics.Text()};
  }
  // Alive means that the process answers, whatever state it is in. Ready means that work is taken:
  // a load balancer looks at that one.
  if (path == "/healthz") {
    return {.status = 200, .body = "alive\n"};
  }
  if (path == "/readyz") {
    return {.status = ready ? 200 : 503, .body = std::string(ops::HealthName(health)) + "\n"};
  }
  return {.status = 404, .body = "/metrics, /healthz, /readyz\n"};
}

// A socket that systemd passes is served even if the configuration names none.
Result<void> Daemon::Parts::ServeMetrics(int passed) {
  if (config.metrics.empty() && passed < 0) {
    return {};
  }
  const auto answer = [this](std::string_view path) { return AnswerTo(path); };
  KILN_TRY(http, passed >= 0 ? ops::HttpListener::Adopt(passed, answer)
                             : ops::HttpListener::Listen(config.metrics, answer));
  log.Write(LogLevel::kInfo, "daemon", "serving metrics", {{"address", http->Address()}});
  return {};
}

// May take as long as the file needs. Conditions are read anew for each look at the health.
Result<void> Daemon::Parts::OpenStore() {
  if (opening != nullptr) {
    opening();
  }
  const auto on_access = [this] { fault("store"); };
  KILN_TRY_VOID(
      engine->OpenStore({.salvage_program = salvage_program,
                         .writes_upstream = writes_upstream,
                         .on_access = fault == nullptr ? std::function<void()>() : on_access}));
  // Reasons of now: they come and go with what they tell, and nobody has to reset them.
  state.Observe([this] {
    std::vector<std::string> reasons = StoreConditions(engine->stack);
    if (uploads->IsFullFor(rpc::kMaxStreamMessage)) {
      reasons.push_back("uploads-full: uploads hold " + std::to_string(uploads->held()) + " of " +
                        std::to_string(uploads->most()) + " bytes");
    }
    if (load.has_value() && load->memory_is_tight()) {
      reasons.emplace_back("memory-pressure: caches in memory were dropped");
    }
    if (entrance.tokens.has_value() && !entrance.tokens->trouble().empty()) {
      reasons.emplace_back("tokens-unreadable: those that were read before hold");
    }
    engine->AddFaults(reasons);
    return reasons;
  });
  return {};
}

// Samples of the parts that exist once the engine does.
void Daemon::Parts::ReadMetrics() {
  metrics.OnScrape([this] {
    std::vector<bool> upstreams;
    for (const std::unique_ptr<Upstream>& upstream : engine->stack.upstreams) {
      upstreams.push_back(!upstream->store().breaker().OpenSince().has_value());
    }
    return ReadSamples(
        {.store = *engine->stack.top,
         .file = engine->stack.file.get(),
         .memory_bytes = engine->stack.memory->bytes(),
         .miss_causes = engine->explains->MissCauses(),
         .built = engine->builder->counters(),
         .merged = engine->builder->merged(),
         .recipes = engine->recipes->counters(),
         .poisoned_by_crash = engine->poisoned_by_crash,
         .differed_when_rebuilt = engine->result_audit.has_value()
                                      ? engine->result_audit->counters().different.load()
                                      : 0,
         .workers = worker_pool->counters(),
         .upstreams = std::move(upstreams),
         .upstream_calls = UpstreamCalls(engine->stack),
         .batches = *engine->batches,
         .watches = *engine->watches,
         .queue = *queue,
         .access = *entrance.access,
         .state = state,
         .refused_connections = entrance.connections->refused(),
         .version = std::string(Version()),
         .build_id = driver::BackFingerprint().hex()});
  });
}

// Jobs of resumed batches are in the queue by now; all that workers use exists before they start.
// The last step of a start (spec/daemon 14.1).
void Daemon::Parts::Serve() {
  if (watchdog != nullptr) {
    watchdog->Observe([this] { return WhatRuns(); });
  }
  state.Serve();
  workers.emplace(jobs::WorkerConfig{.both = config.workers, .express = ExpressThreads()}, *queue,
                  log);
  server->SetServing(true);
  ShowUpstream();
}

// In the thread of the signal or of a call. Keys that need a restart stay as they were; the caller
// is told which (spec/daemon 14.5).
Result<ConfigChange> Daemon::Parts::Reload() {
  if (read_config == nullptr) {
    return ConfigChange{};
  }
  // Everything that can fail comes first. A configuration is taken as a whole or not at all.
  KILN_TRY(const Config read, read_config());
  if (entrance.tokens.has_value()) {
    KILN_TRY_VOID(entrance.tokens->Reload());
  }
  const MutexLock lock(mutex);
  ConfigChange change = Compare(config, current, read);
  current = read;
  idle_timeout = IdleTimeout(read);
  log.SetLevels(read.log_levels);
  queue->SetWeights(read.weights);
  return change;
}

// Called once a second.
void Daemon::Parts::WatchLoad() {
  uint32_t soft_percent = 0, hard_percent = 0;
  {
    const MutexLock lock(mutex);
    soft_percent = current.memory_soft_percent;
    hard_percent = current.memory_hard_percent;
  }
  // Outside of the lock: looking may drop caches, which takes their locks.
  load->Look({.soft = MemoryLimit(soft_percent), .hard = MemoryLimit(hard_percent)});
}

// The nearest of several upstreams: the others are asked only through it.
void Daemon::Parts::ShowUpstream() {
  if (!engine->stack.upstreams.empty()) {
    server->SetUpstream(
        !engine->stack.upstreams.front()->store().breaker().OpenSince().has_value());
  }
}

// What runs now was asked to end and has not crashed, so the next daemon must not count it as an
// attempt.
void Daemon::Parts::GiveUp() {
  if (engine.has_value() && engine->attempts != nullptr) {
    engine->attempts->Leave();
  }
}

// Requires: `mutex`.
void Daemon::Parts::EndWithin(Duration time) {
  // Times only become shorter: a second request must not give more time than the first.
  drain_until = std::min(drain_until, clock.Monotonic() + time);
  if (watchdog != nullptr) {
    watchdog->Arm(time + StopWatchdog::kMargin);
  }
}

// A daemon that ends without having been asked, as after a failed start, has the same time.
void Daemon::Parts::EndInTime() {
  const MutexLock lock(mutex);
  if (drain_until == Duration::max()) {
    EndWithin(current.drain_timeout);
  }
}

// Named before each step that may hang, so that the log of a daemon that does not end says where
// (spec/daemon 14.5).
void Daemon::Parts::WaitsFor(std::string_view what) {
  if (watchdog != nullptr) {
    watchdog->WaitsFor(what);
  }
}

// For the log of a daemon that does not end.
std::vector<std::string> Daemon::Parts::WhatRuns() {
  std::vector<std::string> lines;
  for (const jobs::JobRow& job : queue->List()) {
    const auto seconds = [](Duration time) {
      return std::chrono::duration_cast<std::chrono::seconds>(time).count();
    };
    lines.push_back(fmt::format("job {} '{}': {} for {} s, {} s of CPU", job.id, job.name,
                                job.running ? "runs" : "waits", seconds(job.age),
                                seconds(job.cpu)));
  }
  return lines;
}

// A call whose job stops in time ends with what all calls end with that are open now
// (CallContext::JobOf). One that does not is left to gRPC, which says less: what its job works on
// is the call's.
void Daemon::Parts::StopJobs() {
  // Again and again, because a job that ends may be followed by one that waited.
  for (int look = 0; look < kLooks; ++look) {
    const std::vector<jobs::JobRow> jobs = queue->List();
    if (jobs.empty()) {
      return;
    }
    for (const jobs::JobRow& job : jobs) {
      (void)queue->Kill(job.id);  // or it has returned
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

// Takes the parts down from the outside in: first calls, then jobs, then the store. Members go in
// the order that their references need.
void Daemon::Parts::Ended() {
  state.Drain();
  EndInTime();
  GiveUp();
  // Scrapers first: they read parts that are about to go.
  http.reset();
  if (server != nullptr) {
    server->SetServing(false);
    server->StopAccepting();
  }
  WaitsFor("batches");
  if (engine.has_value() && engine->batches.has_value()) {
    engine->batches->CancelAll();
  }
  WaitsFor("watch sessions");
  if (engine.has_value() && engine->watches.has_value()) {
    engine->watches->Drain();
    engine->watches->CancelAll();
  }
  WaitsFor("calls");
  streams.EndAll(rpc::Leaving());
  if (queue.has_value()) {
    (void)CatchAll([this] { StopJobs(); });
  }
  if (server != nullptr) {
    server->Shutdown(kGrace);
    server.reset();
  }
  services.clear();
  WaitsFor("jobs");
  if (queue.has_value()) {
    queue->Close();
  }
  if (engine.has_value()) {
    engine->batches.reset();
    engine->watches.reset();
  }
  // This waits for the threads: the queue is closed, and they end when it is empty.
  workers.reset();
  if (watchdog != nullptr) {
    watchdog->Observe(nullptr);  // the queue goes
  }
  WaitsFor("the store");
  state.Stop();
}

}  // namespace kiln::server
