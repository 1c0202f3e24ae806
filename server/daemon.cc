// SPDX-License-Identifier: MIT
#include "server/daemon.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "cache/checked_store.h"
#include "cache/compressing_store.h"
#include "cache/explain_ring.h"
#include "cache/limited_store.h"
#include "cache/memory_store.h"
#include "cache/metrics_store.h"
#include "cache/sqlite/explain_table.h"
#include "cache/sqlite/keep_tables.h"
#include "cache/sqlite/maintenance.h"
#include "cache/sqlite/sqlite_store.h"
#include "server/build/batch.h"
#include "server/build/cached_build.h"
#include "server/build/program_pool.h"
#include "server/jobs/memory_queue.h"
#include "server/jobs/worker.h"
#include "server/rpc/rpc_server.h"
#include "server/rpc/services.h"

namespace kiln::server {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{512} << 20;
constexpr Duration kAutostartIdle = std::chrono::hours(3);
constexpr Duration kGrace = std::chrono::milliseconds(500);  // for replies on their way

// metrics(checked(memory(limited(checked(compressing(sqlite)))))), or
// metrics(checked(memory)) without a file. Each part uses those above it in this list.
struct Stack {
  std::unique_ptr<cache::sqlite::SqliteStore> file;  // null: nothing is kept
  std::optional<cache::CompressingStore> compressing;
  std::optional<cache::CheckedStore> checked_file;
  std::optional<cache::LimitedStore> limited;
  std::optional<cache::MemoryStore> memory;
  std::optional<cache::CheckedStore> checked;
  std::optional<cache::MetricsStore> top;

  void Compose(const Config& config, Clock& clock) {
    if (file != nullptr) {
      compressing.emplace(*file, *file);
      checked_file.emplace(*compressing, *file);
      limited.emplace(*checked_file, *file,
                      cache::LimitedStore::Options{.max_bytes = config.cache_max_bytes,
                                                   .min_free_bytes = config.cache_min_free_bytes});
    }
    memory.emplace(limited.has_value() ? &*limited : nullptr, file.get(),
                   cache::MemoryStore::Options{.max_bytes = config.cache_memory_bytes});
    checked.emplace(*memory, *memory);
    top.emplace(*checked, clock);
  }
};

// Why results are not kept right now.
std::vector<std::string> StoreConditions(const cache::sqlite::SqliteStore* store) {
  std::vector<std::string> reasons;
  if (store != nullptr) {
    const cache::sqlite::SqliteStatus status = store->Status();
    if (status.full) {
      reasons.emplace_back("cache-full: the disk is full; results are not stored");
    }
    if (status.read_only) {
      reasons.emplace_back("cache-readonly");
    }
    if (!status.open) {
      reasons.emplace_back("cache-memory-only: the cache has no database for now");
    }
  }
  return reasons;
}

// Why a result that was asked for before is not in the store.
cache::Absence WhyAbsent(const cache::sqlite::SqliteStore* store, const Hash128& signature,
                         Clock& clock) {
  if (store == nullptr || !store->Status().open) {
    return {.cause = cache::Cause::kStoreOff, .detail = "results are kept in memory only"};
  }
  const std::optional<cache::Removal> removal = store->WhyRemoved(signature);
  if (!removal.has_value()) {
    return {};
  }
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count();
  const std::string ago = std::to_string(std::max<int64_t>(0, now_s - removal->at_s)) + " s ago";
  switch (removal->by) {
    case cache::RemovedBy::kCollection:
      return {.cause = cache::Cause::kEvicted, .detail = "removed " + ago + " to make room"};
    case cache::RemovedBy::kExpiry:
      return {.cause = cache::Cause::kExpired, .detail = "expired " + ago};
    case cache::RemovedBy::kDamage:
      return {.cause = cache::Cause::kCorrupt, .detail = "found damaged and dropped " + ago};
  }
  return {};
}

}  // namespace

struct Daemon::Parts {
  Parts(const Options& options, Clock& use_clock, ops::LineLog& use_log)
      : config(options.config), clock(use_clock), log(use_log), state(use_clock) {
    idle_timeout = config.idle_timeout.value_or(
        options.started_by == "autostart" ? kAutostartIdle : Duration::zero());
  }

  Result<void> OpenStore();
  rpc::StoreSide WholeStore();
  Result<void> Serve(const std::string& started_by);
  void Ended();

  const Config config;
  Clock& clock;
  ops::LineLog& log;
  Duration idle_timeout;
  ops::ServiceState state;
  std::unique_ptr<rpc::UnixListener> listener;
  Stack stack;
  std::optional<cache::sqlite::ExplainTable> explain_table;  // these with a file only
  std::optional<cache::sqlite::LeaseTable> leases;
  std::optional<cache::sqlite::PinTable> pins;
  std::optional<cache::sqlite::StoreMaintenance> maintenance;
  std::optional<cache::ExplainRing> explains;
  std::optional<build::ProgramPool> pool;
  std::optional<build::CachedBuild> builder;
  std::optional<jobs::MemoryQueue> queue;
  std::optional<jobs::Workers> workers;
  std::optional<build::PackShelf> shelf;
  std::optional<build::Batches> batches;
  std::optional<rpc::Engine> engine;
  std::optional<rpc::Host> host;
  std::vector<std::shared_ptr<grpc::Service>> services;
  std::unique_ptr<rpc::RpcServer> server;

  Mutex mutex;
  CondVar asked_changed;
  Ask asked KILN_GUARDED_BY(mutex) = Ask::kNothing;
  Duration drain_timeout KILN_GUARDED_BY(mutex) = config.drain_timeout;
};

Result<void> Daemon::Parts::OpenStore() {
  cache::sqlite::SqliteOptions options;
  options.dir = config.cache_dir;
  options.negative_ttl_s =
      std::chrono::duration_cast<std::chrono::seconds>(config.negative_ttl).count();
  options.must_own = true;
  Result<std::unique_ptr<cache::sqlite::SqliteStore>> opened =
      cache::sqlite::SqliteStore::Open(options, clock, log);
  if (opened.ok()) {
    stack.file = std::move(opened).value();
    explain_table.emplace(*stack.file);
    leases.emplace(*stack.file);
    pins.emplace(*stack.file);
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
  state.Observe([this] { return StoreConditions(stack.file.get()); });
  stack.Compose(config, clock);
  return {};
}

rpc::StoreSide Daemon::Parts::WholeStore() {
  const cache::LimitedStore::Options limits{.max_bytes = config.cache_max_bytes};
  return {.maintenance = maintenance.has_value() ? &*maintenance : nullptr,
          .pins = pins.has_value() ? &*pins : nullptr,
          .leases = leases.has_value() ? &*leases : nullptr,
          .metrics = *stack.top,
          .memory_bytes = [this] { return stack.memory->bytes(); },
          .forget =
              [this] {
                stack.memory->Clear();
                builder->Forget();
              },
          .max_bytes = limits.max_bytes,
          .low_bytes = limits.max_bytes / 100 * limits.low_percent};
}

Result<void> Daemon::Parts::Serve(const std::string& started_by) {
  pool.emplace(*stack.top, kPoolBytes);
  builder.emplace(*stack.top, *pool, clock);
  queue.emplace(
      jobs::QueueLimits{.interactive = config.queue_interactive, .batch = config.queue_batch});
  workers.emplace(jobs::WorkerConfig{.both = config.workers, .express = config.express}, *queue,
                  log);
  explains.emplace(explain_table.has_value() ? &*explain_table : nullptr, clock,
                   cache::ExplainRing::Options{.why_absent = [this](const Hash128& signature) {
                     return WhyAbsent(stack.file.get(), signature, clock);
                   }});
  shelf.emplace(config.cache_dir / "packs");
  batches.emplace(*builder, *stack.top, *queue, clock,
                  build::Batches::Options{.workers = config.workers,
                                          .explains = &*explains,
                                          .leases = leases.has_value() ? &*leases : nullptr,
                                          .pins = pins.has_value() ? &*pins : nullptr});
  engine.emplace(rpc::Engine{.store = *stack.top,
                             .pool = *pool,
                             .builder = *builder,
                             .batches = *batches,
                             .explains = *explains,
                             .clock = clock,
                             .whole = WholeStore(),
                             .shelf = *shelf});
  host.emplace(rpc::Host{.queue = *queue,
                         .state = state,
                         .clock = clock,
                         .log = log,
                         .warnings = [this] { return log.Warnings(); },
                         .drain = nullptr,
                         .shut_down = nullptr,
                         .socket = listener->path(),
                         .started_by = started_by});
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
  services.push_back(rpc::MakeCompileService(*host, *engine));
  services.push_back(rpc::MakeBatchService(*host, *engine));
  services.push_back(rpc::MakePackService(*host, *engine));
  services.push_back(rpc::MakeCacheService(*host, *engine));
  services.push_back(rpc::MakeAdminService(*host, *engine));
  std::vector<grpc::Service*> borrowed;
  for (const std::shared_ptr<grpc::Service>& service : services) {
    borrowed.push_back(service.get());
  }
  KILN_TRY(server, rpc::RpcServer::Start(borrowed, *listener, log));
  state.Serve();
  server->SetServing(true);
  return {};
}

// From the outside in: nobody calls, nothing runs, nothing is stored any more. The members go in
// the order that their references need.
void Daemon::Parts::Ended() {
  state.Drain();
  if (server != nullptr) {
    server->SetServing(false);
    server->StopAccepting();
  }
  if (batches.has_value()) {
    batches->CancelAll();
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
  Result<std::unique_ptr<rpc::UnixListener>> listener =
      rpc::UnixListener::Listen(options.config.socket);
  if (!listener.ok()) {
    return failed("socket", listener.error(), "choose another path with --listen.unix");
  }
  parts.listener = std::move(listener).value();
  if (const Result<void> opened = parts.OpenStore(); !opened.ok()) {
    return failed("store", opened.error(),
                  "stop that process, or choose another directory with --cache.dir");
  }
  if (const Result<void> served = parts.Serve(options.started_by); !served.ok()) {
    return failed("rpc", served.error(), "this is a bug of kiln; please report it");
  }
  log.Write(LogLevel::kInfo, "daemon", "serving",
            {{"socket", options.config.socket},
             {"cache", options.config.cache_dir.string()},
             {"workers", options.config.workers}});
  return daemon;
}

const std::string& Daemon::socket() const { return parts_->listener->path(); }

Daemon::Ask Daemon::Wait(Duration timeout) {
  {
    const MutexLock lock(parts_->mutex);
    if (parts_->asked == Ask::kNothing) {
      (void)parts_->asked_changed.WaitFor(parts_->mutex, timeout);
    }
    if (parts_->asked != Ask::kNothing) {
      return parts_->asked;
    }
  }
  const jobs::QueueStatus queue = parts_->queue->Status();
  const bool busy = queue.running[0] + queue.running[1] + queue.waiting[0] + queue.waiting[1] != 0;
  const bool idle = parts_->idle_timeout != Duration::zero() && !busy &&
                    parts_->state.IdleFor() >= parts_->idle_timeout;
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
  parts_->log.Write(LogLevel::kInfo, "daemon", "draining");
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
