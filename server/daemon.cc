// SPDX-License-Identifier: MIT
#include "server/daemon.h"

#include <chrono>
#include <optional>
#include <random>
#include <thread>
#include <unistd.h>
#include <utility>

#include "cache/explain_ring.h"
#include "cache/held_leases.h"
#include "cache/sqlite/batch_table.h"
#include "cache/sqlite/explain_table.h"
#include "cache/sqlite/keep_tables.h"
#include "cache/sqlite/maintenance.h"
#include "compiler/driver/fingerprint.h"
#include "server/build/batch.h"
#include "server/build/cached_build.h"
#include "server/build/program_pool.h"
#include "server/jobs/memory_queue.h"
#include "server/jobs/worker.h"
#include "server/load_watch.h"
#include "server/ops/crash_report.h"
#include "server/ops/http_listener.h"
#include "server/reload/subscriptions.h"
#include "server/rpc/rpc_server.h"
#include "server/rpc/services.h"
#include "server/samples.h"
#include "server/store_stack.h"
#include "server/worker/pool.h"

namespace kiln::server {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{512} << 20;
constexpr Duration kAutostartIdle = std::chrono::hours(3);
constexpr Duration kGrace = std::chrono::milliseconds(500);  // for replies on their way

// Of one run of the daemon, never 0: who quotes another one was connected to an earlier run.
uint64_t RandomEpoch() {
  std::random_device random;
  return (uint64_t{random()} << 32 | random()) | 1;
}

}  // namespace

struct Daemon::Parts {
  Parts(const Options& options, Clock& use_clock, ops::LineLog& use_log)
      : config(options.config),
        read_config(options.reload),
        started_by(options.started_by),
        writes_upstream(options.writes_upstream),
        salvage_program(options.salvage_program),
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

  Result<void> OpenStore();
  rpc::StoreSide WholeStore();
  Result<void> Listen(const Options& options);
  Result<void> Guard();
  void ExportTraces();
  void MakeEngine();
  void MakeHost();
  Result<void> Serve();
  Result<ConfigChange> Reload();
  Result<void> ServeMetrics(int passed);
  ops::HttpReply Answer(std::string_view path);
  void WatchLoad();
  void ShowUpstream();
  uint64_t MemoryLimit(uint32_t percent) const { return memory_bytes / 100 * percent; }
  void Ended();

  Config config;  // as it was at the start; what changes later is below
  const std::function<Result<Config>()> read_config;
  const std::string started_by;
  const bool writes_upstream;
  const std::string salvage_program;
  Clock& clock;
  ops::LineLog& log;
  ops::ServiceState state;
  std::unique_ptr<rpc::UnixListener> listener;
  std::optional<ops::TcpListener> tcp;
  std::unique_ptr<ops::AuditLog> audit;
  std::unique_ptr<ops::TraceExport> otlp;
  std::optional<ops::TokenBook> tokens;
  std::optional<ops::Access> access;
  Stack stack;
  std::optional<cache::sqlite::ExplainTable> explain_table;  // these with a file only
  std::optional<cache::sqlite::LeaseTable> leases;
  std::optional<cache::sqlite::PinTable> pins;
  std::optional<cache::HeldLeases> held;
  std::optional<cache::sqlite::BatchTable> batch_rows;
  std::optional<cache::sqlite::StoreMaintenance> maintenance;
  std::optional<cache::ExplainRing> explains;
  std::optional<build::ProgramPool> pool;
  std::optional<worker::Pool> worker_pool;
  std::optional<build::Recipes> recipes;
  std::optional<build::CachedBuild> builder;
  ops::Metrics metrics;
  ops::TraceRing traces;
  rpc::SlowReaders slow_readers{clock};
  std::optional<jobs::MemoryQueue> queue;
  std::optional<jobs::Workers> workers;
  std::optional<build::PackShelf> shelf;
  std::optional<build::Batches> batches;
  std::optional<reload::Subscriptions> watches;
  std::optional<rpc::Engine> engine;
  std::optional<rpc::Host> host;
  std::vector<std::shared_ptr<grpc::Service>> services;
  std::unique_ptr<rpc::RpcServer> server;
  std::unique_ptr<ops::HttpListener> http;
  const uint64_t memory_bytes = ops::MemoryBytes();
  std::optional<LoadWatch> load;

  Mutex mutex;
  CondVar asked_changed;
  Ask asked KILN_GUARDED_BY(mutex) = Ask::kNothing;
  Duration drain_timeout KILN_GUARDED_BY(mutex) = config.drain_timeout;
  Duration idle_timeout KILN_GUARDED_BY(mutex) = IdleTimeout(config);
  Config current KILN_GUARDED_BY(mutex) = config;  // what was read last
};

Result<void> Daemon::Parts::OpenStore() {
  cache::sqlite::SqliteOptions options;
  options.dir = config.cache_dir;
  options.negative_ttl_s =
      std::chrono::duration_cast<std::chrono::seconds>(config.negative_ttl).count();
  options.max_age_s =
      std::chrono::duration_cast<std::chrono::seconds>(config.cache_max_age).count();
  options.must_own = true;
  options.salvage_program = salvage_program;
  options.writer.group_requests = config.group_rows;
  options.writer.group_wait = config.group_time;
  Result<std::unique_ptr<cache::sqlite::SqliteStore>> opened =
      cache::sqlite::SqliteStore::Open(options, clock, log);
  if (opened.ok()) {
    stack.file = std::move(opened).value();
    explain_table.emplace(*stack.file);
    leases.emplace(*stack.file);
    pins.emplace(*stack.file);
    batch_rows.emplace(*stack.file);
    maintenance.emplace(*stack.file, clock);
  } else if (opened.error().reason == cache::sqlite::kLocked) {
    return opened.error();
  } else {
    log.Write(LogLevel::kWarning, "store", "results are kept in memory only",
              {{"cause", ErrorText(opened.error())}});
    state.Degrade(
        (opened.error().code == ErrorCode::kFull ? "cache-full: " : "cache-memory-only: ") +
        opened.error().context);
  }
  state.Observe([this] {
    std::vector<std::string> reasons = StoreConditions(stack);
    if (load.has_value() && load->memory_is_tight()) {
      reasons.emplace_back("memory-pressure: caches in memory were dropped");
    }
    return reasons;
  });
  stack.Compose(config, writes_upstream, clock, log);
  return {};
}

rpc::StoreSide Daemon::Parts::WholeStore() {
  const cache::LimitedStore::Options limits{.max_bytes = config.cache_max_bytes};
  return {.maintenance = maintenance.has_value() ? &*maintenance : nullptr,
          .pins = pins.has_value() ? &*pins : nullptr,
          .held = *held,
          .metrics = *stack.top,
          .memory_bytes = [this] { return stack.memory->bytes(); },
          .forget =
              [this] {
                stack.memory->Clear();
                builder->Forget();
              },
          .has_upstream = !stack.upstreams.empty(),
          .max_bytes = limits.max_bytes,
          .low_bytes = limits.max_bytes / 100 * limits.low_percent};
}

Result<void> Daemon::Parts::Listen(const Options& options) {
  const auto whom = config.allow_uids.empty() ? rpc::UnixListener::For::kOwner
                                              : rpc::UnixListener::For::kNeighbours;
  if (options.passed.unix_socket >= 0) {
    listener = rpc::UnixListener::Adopt(options.passed.unix_socket, config.socket);
  } else {
    KILN_TRY(listener, rpc::UnixListener::Listen(config.socket, whom));
  }
  if (config.tcp.empty() && options.passed.tcp < 0) {
    return {};
  }
  if (geteuid() == 0 && !config.allow_root) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context =
                     "root does not serve TCP; run kilnd as another user or pass "
                     "--allow-root",
                 .reason = "ROOT"};
  }
  const auto now_s = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count();
  KILN_TRY(const rpc::TlsSummary tls,
           rpc::CheckTlsFiles({config.tls_cert, config.tls_key, config.tls_client_ca}, now_s));
  if (options.passed.tcp >= 0) {
    tcp = ops::TcpListener::Adopt(options.passed.tcp);
  } else {
    KILN_TRY(tcp, ops::TcpListener::Listen(config.tcp));
  }
  log.Write(LogLevel::kInfo, "daemon", "serving TCP",
            {{"address", tcp->Address()}, {"certificate", tls.subject}});
  return {};
}

// Tokens, audit log, and who decides.
Result<void> Daemon::Parts::Guard() {
  if (!config.audit_log.empty()) {
    Result<std::unique_ptr<ops::AuditLog>> opened =
        ops::AuditLog::Open(config.audit_log, clock, log);
    if (opened.ok()) {
      audit = std::move(opened).value();
    } else if (tcp.has_value()) {
      Error error = opened.error();  // strangers are served with an audit log or not at all
      error.context = "the audit log: " + error.context;
      return error;
    } else {
      log.Write(LogLevel::kWarning, "audit", "there is no audit log",
                {{"cause", opened.error().context}});
    }
  }
  if (tcp.has_value() && !config.tokens.empty()) {
    tokens.emplace(config.tokens, clock);
    KILN_TRY_VOID(tokens->Reload());
  }
  access.emplace(tokens.has_value() ? &*tokens : nullptr, clock, audit.get());
  return {};
}

// Without the file there is no export: nobody's work depends on it.
void Daemon::Parts::ExportTraces() {
  if (config.otlp.empty()) {
    return;
  }
  Result<std::unique_ptr<ops::TraceExport>> opened =
      ops::TraceExport::Open(config.otlp,
                             {.version = std::string(rpc::kVersion),
                              .build_id = driver::BackFingerprint().hex(),
                              .instance = std::to_string(getpid()) + "@" + listener->path()},
                             log);
  if (opened.ok()) {
    otlp = std::move(opened).value();
  } else {
    log.Write(LogLevel::kWarning, "trace", "traces are not exported",
              {{"cause", opened.error().context}});
  }
}

Result<ConfigChange> Daemon::Parts::Reload() {
  if (read_config == nullptr) {
    return ConfigChange{};
  }
  KILN_TRY(const Config read, read_config());
  if (tokens.has_value()) {
    KILN_TRY_VOID(tokens->Reload());
  }
  const MutexLock lock(mutex);
  ConfigChange change = Compare(current, read);
  current = read;
  drain_timeout = read.drain_timeout;
  idle_timeout = IdleTimeout(read);
  log.SetLevels(read.log_levels);
  queue->SetWeights(read.weights);
  return change;
}

// What builds: from the pool of programs to the services' view of all of it.
void Daemon::Parts::MakeEngine() {
  pool.emplace(*stack.top, kPoolBytes, config.language_limits);
  worker_pool.emplace(
      worker::Pool::Options{
          .program = config.worker_program,
          .workers = config.workers,
          .interactive_wait = [this] { return queue->LongestWait(jobs::Lane::kInteractive); }},
      clock);
  recipes.emplace(*stack.top, *worker_pool, clock);
  builder.emplace(*stack.top, *pool, clock, &*recipes);
  queue.emplace(
      jobs::QueueLimits{.interactive = config.queue_interactive, .batch = config.queue_batch},
      clock, [this](jobs::Lane lane, Duration waited) {
        metrics.Time("kiln_queue_wait_seconds", "lane",
                     lane == jobs::Lane::kInteractive ? "interactive" : "batch", waited);
      });
  queue->SetWeights(config.weights);
  workers.emplace(jobs::WorkerConfig{.both = config.workers, .express = config.express}, *queue,
                  log);
  load.emplace(LoadWatch::Options{.workers = config.workers,
                                  .polite = IsPolite(),
                                  .drop_caches =
                                      [this] {
                                        stack.memory->Clear();
                                        builder->Forget();
                                      }},
               *queue, state, clock, log);
  explains.emplace(
      explain_table.has_value() ? &*explain_table : nullptr, clock,
      cache::ExplainRing::Options{
          .why_absent =
              [this](const Hash128& signature) { return WhyAbsent(stack, signature, clock); },
          .on_stage =
              [this](const std::string& stage, uint64_t us) {
                metrics.Time("kiln_stage_seconds", "stage", stage, std::chrono::microseconds(us));
              }});
  held.emplace(leases.has_value() ? &*leases : nullptr, *stack.top, clock);
  shelf.emplace(config.cache_dir / "packs");
  batches.emplace(*builder, *stack.top, *queue, clock,
                  build::Batches::Options{.workers = config.workers,
                                          .explains = &*explains,
                                          .leases = leases.has_value() ? &*leases : nullptr,
                                          .pins = pins.has_value() ? &*pins : nullptr,
                                          .rows = batch_rows.has_value() ? &*batch_rows : nullptr,
                                          .slowed_by = [this] { return load->slowed_by(); }});
  watches.emplace(
      *builder, *explains, *queue, clock,
      reload::Subscriptions::Options{.workers = config.workers,
                                     .epoch = RandomEpoch(),
                                     .max_sessions = config.limits.watch_sessions,
                                     .max_subscribers = config.limits.watch_subscribers});
  engine.emplace(rpc::Engine{.store = *stack.top,
                             .pool = *pool,
                             .builder = *builder,
                             .batches = *batches,
                             .explains = *explains,
                             .clock = clock,
                             .whole = WholeStore(),
                             .shelf = *shelf,
                             .watches = *watches});
}

// What the services know of the process around them.
void Daemon::Parts::MakeHost() {
  host.emplace(rpc::Host{
      .queue = *queue,
      .state = state,
      .access = *access,
      .audit = audit.get(),
      .metrics = metrics,
      .traces = traces,
      .otlp = otlp.get(),
      .slow_readers = slow_readers,
      .clock = clock,
      .log = log,
      .warnings = [this] { return log.Warnings(); },
      .drain = nullptr,
      .shut_down = nullptr,
      .reload = [this]() -> Result<rpc::Reloaded> {
        KILN_TRY(const ConfigChange change, Reload());
        return rpc::Reloaded{.at_once = {change.at_once.begin(), change.at_once.end()},
                             .at_restart = {change.at_restart.begin(), change.at_restart.end()}};
      },
      .set_log_level = [this](const std::string& component,
                              LogLevel level) { log.SetLevel(component, level); },
      .socket = listener->path(),
      .tcp = tcp.has_value() ? tcp->Address() : std::string(),
      .started_by = started_by,
      .connections = [this] { return server->Connections(); },
      .max_connections = config.max_connections,
      .limits = config.limits,
      .job_limits = {.worker_cpu = std::chrono::seconds(worker::ChildLimits{}.cpu_seconds),
                     .worker_wall = worker::Pool::Options{}.wall,
                     .worker_memory = worker::ChildLimits{}.memory_bytes,
                     .worker_attempts = static_cast<uint64_t>(worker::Pool::Options{}.attempts)},
      .slowed_by = [this] { return load->slowed_by(); },
      .worker_rows = [this] { return WorkerRowsOf(*worker_pool); },
      .last_crash = ops::TakeCrashReports(config.cache_dir.string()).value_or(""),
      .memory_soft = MemoryLimit(config.memory_soft_percent),
      .memory_hard = MemoryLimit(config.memory_hard_percent)});
  const auto ask = [this](Ask what, Duration timeout) {
    const MutexLock lock(mutex);
    drain_timeout = timeout == Duration::zero() ? drain_timeout : timeout;
    asked = std::max(asked, what);
    asked_changed.NotifyAll();
  };
  host->drain = [this, ask](Duration timeout) {
    state.Drain();  // the reply comes when draining has begun
    ask(Ask::kDrain, timeout);
  };
  host->shut_down = [ask] { ask(Ask::kShutDown, Duration::zero()); };
}

Result<void> Daemon::Parts::Serve() {
  ExportTraces();
  MakeEngine();
  MakeHost();
  rpc::RestoreBatches(*engine);
  services.push_back(rpc::MakeCompileService(*host, *engine));
  services.push_back(rpc::MakeBatchService(*host, *engine));
  services.push_back(rpc::MakeWatchService(*host, *engine));
  services.push_back(rpc::MakePackService(*host, *engine));
  services.push_back(rpc::MakeCacheService(*host, *engine));
  services.push_back(rpc::MakeAdminService(*host, *engine));
  std::vector<grpc::Service*> borrowed;
  for (const std::shared_ptr<grpc::Service>& service : services) {
    borrowed.push_back(service.get());
  }
  KILN_TRY(server, rpc::RpcServer::Start(borrowed, {.unix_socket = *listener,
                                                    .allow_uids = config.allow_uids,
                                                    .tcp = tcp.has_value() ? &*tcp : nullptr,
                                                    .tls = {.cert = config.tls_cert,
                                                            .key = config.tls_key,
                                                            .client_ca = config.tls_client_ca},
                                                    .access = *access,
                                                    .log = log,
                                                    .max_connections = config.max_connections,
                                                    .receiving_bytes = config.receiving_bytes != 0
                                                                           ? config.receiving_bytes
                                                                           : memory_bytes / 2,
                                                    .limits = config.limits}));
  state.Serve();
  server->SetServing(true);
  ShowUpstream();
  return {};
}

// What a scraper and a load balancer ask for.
ops::HttpReply Daemon::Parts::Answer(std::string_view path) {
  const ops::Health health = state.health();
  if (path == "/metrics") {
    return {.status = 200, .type = "text/plain; version=0.0.4", .body = metrics.Text()};
  }
  if (path == "/healthz") {
    return {.status = 200, .body = "alive\n"};
  }
  if (path == "/readyz") {
    const bool ready = health == ops::Health::kServing || health == ops::Health::kDegraded;
    return {.status = ready ? 200 : 503, .body = std::string(ops::HealthName(health)) + "\n"};
  }
  return {.status = 404, .body = "/metrics, /healthz, /readyz\n"};
}

Result<void> Daemon::Parts::ServeMetrics(int passed) {
  if (config.metrics.empty() && passed < 0) {
    return {};
  }
  metrics.OnScrape([this] {
    std::vector<bool> upstreams;
    for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
      upstreams.push_back(!upstream->store().breaker().OpenSince().has_value());
    }
    return ReadSamples({.store = *stack.top,
                        .file = stack.file.get(),
                        .memory_bytes = stack.memory->bytes(),
                        .miss_causes = explains->MissCauses(),
                        .built = builder->counters(),
                        .merged = builder->merged(),
                        .recipes = recipes->counters(),
                        .workers = worker_pool->counters(),
                        .upstreams = std::move(upstreams),
                        .upstream_calls = UpstreamCalls(stack),
                        .batches = *batches,
                        .watches = *watches,
                        .queue = *queue,
                        .access = *access,
                        .state = state,
                        .refused_connections = server->refused_connections(),
                        .version = std::string(rpc::kVersion),
                        .build_id = driver::BackFingerprint().hex()});
  });
  const auto answer = [this](std::string_view path) { return Answer(path); };
  KILN_TRY(http, passed >= 0 ? ops::HttpListener::Adopt(passed, answer)
                             : ops::HttpListener::Listen(config.metrics, answer));
  log.Write(LogLevel::kInfo, "daemon", "serving metrics", {{"address", http->Address()}});
  return {};
}

void Daemon::Parts::WatchLoad() {
  uint32_t soft_percent = 0, hard_percent = 0;
  {
    const MutexLock lock(mutex);
    soft_percent = current.memory_soft_percent;
    hard_percent = current.memory_hard_percent;
  }
  load->Look({.soft = MemoryLimit(soft_percent), .hard = MemoryLimit(hard_percent)});
}

// Of several the nearest: others are asked only through it.
void Daemon::Parts::ShowUpstream() {
  if (!stack.upstreams.empty()) {
    server->SetUpstream(!stack.upstreams.front()->store().breaker().OpenSince().has_value());
  }
}

// From the outside in: nobody calls, nothing runs, nothing is stored any more. The members go in
// the order that their references need.
void Daemon::Parts::Ended() {
  state.Drain();
  http.reset();
  if (server != nullptr) {
    server->SetServing(false);
    server->StopAccepting();
  }
  if (batches.has_value()) {
    batches->CancelAll();
  }
  if (watches.has_value()) {
    watches->Drain();
    watches->CancelAll();
  }
  if (server != nullptr) {
    server->Shutdown(kGrace);
    server.reset();
  }
  services.clear();
  if (queue.has_value()) {
    queue->Close();
  }
  batches.reset();
  watches.reset();
  workers.reset();
  state.Stop();
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Daemon::~Daemon() { parts_->Ended(); }

Result<std::unique_ptr<Daemon>> Daemon::Start(const Options& options, Clock& clock,
                                              ops::LineLog& log, StartFailure& failure) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::make_unique<Parts>(options, clock, log)));
  Parts& parts = *daemon->parts_;
  const auto failed = [&](std::string component, const Error& error, std::string hint) {
    failure = {.component = std::move(component), .what = error.context, .hint = std::move(hint)};
    return error;
  };
  if (const Result<void> listening = parts.Listen(options); !listening.ok()) {
    const Error& error = listening.error();
    return error.reason == "TLS" || error.reason == "FILE"
               ? failed("tls", error, "name the files with tls.cert, tls.key and tls.client_ca")
           : error.reason == "ROOT"
               ? failed("security", error, "choose a user without rights for kilnd")
               : failed("socket", error, "choose another with --listen.unix or --listen.tcp");
  }
  if (const Result<void> opened = parts.OpenStore(); !opened.ok()) {
    return failed("store", opened.error(),
                  "stop that process, or choose another directory with --cache.dir");
  }
  if (const Result<void> guarded = parts.Guard(); !guarded.ok()) {
    return failed("security", guarded.error(),
                  "repair security.tokens or security.audit_log, or name others");
  }
  if (const Result<void> served = parts.Serve(); !served.ok()) {
    return failed("rpc", served.error(), "this is a bug of kiln; please report it");
  }
  if (const Result<void> shown = parts.ServeMetrics(options.passed.metrics); !shown.ok()) {
    return failed("metrics", shown.error(), "choose another address with --metrics.listen");
  }
  log.Write(LogLevel::kInfo, "daemon", "serving",
            {{"socket", options.config.socket},
             {"cache", options.config.cache_dir.string()},
             {"workers", options.config.workers}});
  return daemon;
}

const std::string& Daemon::socket() const { return parts_->listener->path(); }

std::string Daemon::metrics() const {
  return parts_->http == nullptr ? std::string() : parts_->http->Address();
}

std::string Daemon::tcp() const {
  return parts_->tcp.has_value() ? parts_->tcp->Address() : std::string();
}

Result<ConfigChange> Daemon::Reload() { return parts_->Reload(); }

Daemon::Ask Daemon::Wait(Duration timeout) {
  Duration idle_timeout{};
  {
    const MutexLock lock(parts_->mutex);
    if (parts_->asked == Ask::kNothing) {
      (void)parts_->asked_changed.WaitFor(parts_->mutex, timeout);
    }
    if (parts_->asked != Ask::kNothing) {
      return parts_->asked;
    }
    idle_timeout = parts_->idle_timeout;
  }
  parts_->WatchLoad();
  parts_->ShowUpstream();
  const jobs::QueueStatus queue = parts_->queue->Status();
  const bool busy = queue.running[0] + queue.running[1] + queue.waiting[0] + queue.waiting[1] != 0;
  const bool idle =
      idle_timeout != Duration::zero() && !busy && parts_->state.IdleFor() >= idle_timeout;
  return idle ? Ask::kDrain : Ask::kNothing;
}

void Daemon::RequestStop(Ask ask) {
  const MutexLock lock(parts_->mutex);
  parts_->asked = std::max(parts_->asked, ask);
  parts_->asked_changed.NotifyAll();
}

void Daemon::Drain() {
  parts_->state.Drain();
  parts_->server->SetServing(false);
  parts_->watches->Drain();
  parts_->log.Write(LogLevel::kInfo, "daemon", "draining");
  parts_->batches->Halt();
  Duration end{};
  {
    const MutexLock lock(parts_->mutex);
    end = parts_->clock.Monotonic() + parts_->drain_timeout;
  }
  while (parts_->clock.Monotonic() < end) {
    const jobs::QueueStatus queue = parts_->queue->Status();
    if (queue.running[0] + queue.running[1] + queue.waiting[0] + queue.waiting[1] == 0) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace kiln::server
