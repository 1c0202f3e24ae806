// SPDX-License-Identifier: MIT
// The start of a daemon: lock, sockets, who may come in, and answers that it starts; then the store
// and what builds (daemon_engine.cc). See spec/daemon 14.1
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "compiler/base/own_folder.h"
#include "compiler/base/user_folders.h"
#include "compiler/driver/fingerprint.h"
#include "server/daemon_parts.h"
#include "server/ops/machine.h"
#include "server/rpc/admin_service.h"
#include "server/rpc/batch_service.h"
#include "server/rpc/cache_service.h"
#include "server/rpc/compile_service.h"
#include "server/rpc/pack_service.h"
#include "server/rpc/watch_service.h"
#include "server/samples.h"

namespace kiln::server {

// Whoever may connect to the shared socket may fill its queue, allowed or not, so the owner has one
// that nobody else can reach. Once there, it stays: a client that has it in use finds the next
// daemon by the same name.
Result<void> Daemon::Parts::ListenForOwner(bool may_fail) {
  const std::string path = OwnersSocket(config.socket);
  std::error_code ignored;
  if (config.allow_uids.empty() &&
      !std::filesystem::exists(std::filesystem::path(path).parent_path(), ignored)) {
    return {};
  }
  Result<std::unique_ptr<rpc::UnixListener>> opened =
      rpc::UnixListener::Listen(path, rpc::UnixListener::SocketAudience::kOwner);
  if (opened.ok()) {
    owners = std::move(opened).value();
  } else if (may_fail || config.allow_uids.empty()) {
    log.Write(LogLevel::kWarning, "rpc", "the owner has no socket of his own",
              {{"cause", opened.error().context}});
  } else {
    return opened.error();
  }
  return {};
}

Result<void> Daemon::Parts::Listen(const Options& options) {
  const auto whom = config.allow_uids.empty() ? rpc::UnixListener::SocketAudience::kOwner
                                              : rpc::UnixListener::SocketAudience::kNeighbours;
  if (options.passed.unix_socket >= 0) {
    listener = rpc::UnixListener::Adopt(options.passed.unix_socket, config.socket);
  } else {
    KILN_TRY(listener, rpc::UnixListener::Listen(config.socket, whom));
  }
  // The folder of a socket that was passed need not be ours.
  KILN_TRY_VOID(ListenForOwner(options.passed.unix_socket >= 0));
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

// The configured number of connections, if there are descriptors for them and everything else;
// otherwise connections of others would take descriptors of the owner's share.
size_t Daemon::Parts::MostConnections() {
  constexpr uint64_t kOwnDescriptors = 512;  // files, workers, upstreams
  const uint64_t wanted = config.max_connections + kOwnDescriptors;
  const uint64_t descriptors = ops::RaiseDescriptorLimit(wanted);
  if (descriptors >= wanted) {
    return config.max_connections;
  }
  const uint64_t most = descriptors / 2;
  log.Write(LogLevel::kWarning, "rpc", "too few descriptors for limits.connections",
            {{"limit", descriptors}, {"connections", most}});
  return most;
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
    tokens.emplace(config.tokens, clock, log);
    KILN_TRY_VOID(tokens->Reload());
  }
  access.emplace(tokens.has_value() ? &*tokens : nullptr, clock, audit.get(), log);
  party_log.emplace(clock, log);
  connections.emplace(ConnectionOptions(), clock);
  return {};
}

// The first call of a connection may have the longest message there is. Several such may be on
// their way at once, none of which has arrived: of all newcomers, or of a client with a token.
rpc::Connections::Options Daemon::Parts::ConnectionOptions() {
  constexpr uint64_t kHandshake = uint64_t{256} << 10;  // of TLS, with certificates
  constexpr uint64_t kAtOnce = 8;                       // calls
  const uint64_t call = uint64_t{config.limits.request_message} + config.limits.header_list;
  return {.most = MostConnections(),
          .users = !config.allow_uids.empty(),
          .first_call = config.limits.first_call,
          .newcomer_bytes = call + kHandshake,
          .newcomers_bytes = kAtOnce * (call + kHandshake),
          .client_bytes = kAtOnce * call,
          .resident = ops::ResidentBytes,
          .on_flood = [this](const ops::Party& party) {
            access->RefuseConnection(party, ops::Access::RefusalCause::kFlood);
          }};
}

// Without the file there is no export, and no work depends on it.
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

// What the services know of the process around them.
void Daemon::Parts::MakeHost() {
  const uint64_t interactive = config.workers + ExpressThreads();
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
                                        .drop_caches =
                                            [this] {
                                              stack.memory->Clear();
                                              builder->Forget();
                                            }},
               *queue, state, clock, log);
  uploads.emplace(ReceivingBytes() / 2);
  host.emplace(rpc::Host{
      .queue = *queue,
      .state = state,
      .access = *access,
      .connections = *connections,
      .audit = audit.get(),
      .metrics = metrics,
      .traces = traces,
      .otlp = otlp.get(),
      .streams = streams,
      .uploads = *uploads,
      .readers = readers,
      .clock = clock,
      .log = log,
      .party_log = *party_log,
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
      .socket = listener->path(),
      .tcp = tcp.has_value() ? tcp->Address() : std::string(),
      .config_file = config.file,
      .tokens_file = tokens.has_value() ? tokens->path() : std::string(),
      .started_by = started_by,
      .limits = config.limits,
      .job_limits = {.worker_cpu = worker::Pool::Options{}.cpu,
                     .worker_wall = worker::Pool::Options{}.wall,
                     .worker_memory = worker::ChildLimits{}.memory_bytes,
                     .worker_attempts = static_cast<uint64_t>(worker::Pool::Options{}.attempts)},
      .language_limits = config.language_limits,
      .slowed_by = [this] { return load->slowed_by(); },
      .worker_rows = [this] { return WorkerRowsOf(*worker_pool); },
      .upstreams = [this](bool check,
                          const cache::Call& call) { return UpstreamRows(stack, check, call); },
      .last_crash = [this] { return last_crash; },
      .caches = [this] { return CachesInMemory(); },
      .memory_soft = MemoryLimit(config.memory_soft_percent),
      .memory_hard = MemoryLimit(config.memory_hard_percent),
      .fault = fault});
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

// Starts the services: from here on status calls are answered, all others hear that it starts.
Result<void> Daemon::Parts::Answer() {
  services.push_back(rpc::MakeCompileService(*host, engine.engine()));
  services.push_back(rpc::MakeBatchService(*host, engine.engine()));
  services.push_back(rpc::MakeWatchService(*host, engine.engine()));
  services.push_back(rpc::MakePackService(*host, engine.engine()));
  services.push_back(rpc::MakeCacheService(*host, engine.engine()));
  services.push_back(rpc::MakeAdminService(*host, engine.engine()));
  std::vector<grpc::Service*> borrowed;
  for (const std::shared_ptr<grpc::Service>& service : services) {
    borrowed.push_back(service.get());
  }
  KILN_TRY(server, rpc::RpcServer::Start(borrowed, {.unix_socket = *listener,
                                                    .owners_socket = owners.get(),
                                                    .allow_uids = config.allow_uids,
                                                    .tcp = tcp.has_value() ? &*tcp : nullptr,
                                                    .tls = {.cert = config.tls_cert,
                                                            .key = config.tls_key,
                                                            .client_ca = config.tls_client_ca},
                                                    .access = *access,
                                                    .connections = *connections,
                                                    .log = log,
                                                    .receiving_bytes = ReceivingBytes(),
                                                    .limits = config.limits,
                                                    .host = &*host}));
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
  if (path == "/healthz") {
    return {.status = 200, .body = "alive\n"};
  }
  if (path == "/readyz") {
    return {.status = ready ? 200 : 503, .body = std::string(ops::HealthName(health)) + "\n"};
  }
  return {.status = 404, .body = "/metrics, /healthz, /readyz\n"};
}

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
  if (const Result<void> guarded = parts.Guard(); !guarded.ok()) {
    return failed("security", guarded.error(),
                  "repair security.tokens or security.audit_log, or name others");
  }
  parts.ExportTraces();
  parts.MakeHost();
  if (const Result<void> answers = parts.Answer(); !answers.ok()) {
    return failed("rpc", answers.error(), "this is a bug of kiln; please report it");
  }
  if (const Result<void> shown = parts.ServeMetrics(options.passed.metrics); !shown.ok()) {
    return failed("metrics", shown.error(), "choose another address with --metrics.listen");
  }
  const Result<void> opened = parts.OpenStore();
  if (!opened.ok() && opened.error().reason == kNotOwn) {
    return failed("cache", opened.error(),
                  "chown it or chmod go-w it, or choose another directory with --cache.dir");
  }
  if (!opened.ok()) {
    return failed("store", opened.error(),
                  "stop that process, or choose another directory with --cache.dir");
  }
  parts.MakeEngine();
  parts.Serve();
  log.Write(LogLevel::kInfo, "daemon", "serving",
            {{"socket", options.config.socket},
             {"cache", options.config.cache_dir.string()},
             {"workers", options.config.workers}});
  return daemon;
}

}  // namespace kiln::server
