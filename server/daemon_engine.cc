// SPDX-License-Identifier: MIT
// Makes the parts of a daemon that build and keep results, in the order in which they need each
// other. The members of DaemonEngine stand in the same order, so they are taken apart from the last
// to the first.
#include "server/daemon_engine.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "compiler/base/files/own_folder.h"
#include "server/compile/poison.h"
#include "server/ops/crash_report.h"
#include "server/pressure_monitor.h"

namespace kiln::server {
namespace {

// What a batch leaves free in the allocator and is worth a look at all of it.
constexpr uint64_t kMuchAfterBatch = uint64_t{16} << 20;

constexpr uint64_t kPoolBytes = uint64_t{512} << 20;
// What is stored of batches has an eighth of the cache, within these.
constexpr uint64_t kLeastSpecBytes = uint64_t{8} << 20, kMostSpecBytes = uint64_t{128} << 20;
constexpr uint64_t kLeastExplainBytes = uint64_t{8} << 20, kMostExplainBytes = uint64_t{4} << 30;
constexpr Duration kRowsAgain = std::chrono::seconds(5);  // rows of batches that found no room
constexpr uint64_t kLeastPackBytes = uint64_t{1} << 30;   // of all packs beside a small cache

// Of one run of the daemon, never 0: a client that quotes another number knows an earlier run.
uint64_t RandomEpoch() {
  std::random_device random;
  return (uint64_t{random()} << 32 | random()) | 1;
}

// Called when a batch is over. Giving memory back takes all locks of the allocator, hence only for
// much of it.
void GiveBackMuch() {
  if (PressureMonitor::UnusedBytes() >= kMuchAfterBatch) {
    PressureMonitor::GiveBackUnused();
  }
}

}  // namespace

Result<void> DaemonEngine::OpenStore(const StoreOptions& options) {
  cache::sqlite::SqliteOptions sqlite;
  sqlite.dir = config.cache_dir;
  sqlite.negative_ttl_s =
      std::chrono::duration_cast<std::chrono::seconds>(config.negative_ttl).count();
  sqlite.max_age_s = std::chrono::duration_cast<std::chrono::seconds>(config.cache_max_age).count();
  sqlite.sent_bytes = config.cache_max_bytes / 2;
  sqlite.max_bytes = config.cache_max_bytes;
  // A daemon that only read beside another one would compile everything twice, so it does not start
  // then.
  sqlite.must_own = true;
  sqlite.salvage_program = options.salvage_program;
  sqlite.writer.group_requests = config.group_rows;
  sqlite.writer.group_wait = config.group_time;
  Result<std::unique_ptr<cache::sqlite::SqliteStore>> opened =
      cache::sqlite::SqliteStore::Open(sqlite, clock, log);
  if (opened.ok()) {
    stack.file = std::move(opened).value();
    explain_table.emplace(
        *stack.file, std::clamp(config.cache_max_bytes / 8, kLeastExplainBytes, kMostExplainBytes),
        config.cache_max_bytes);
    leases.emplace(*stack.file);
    pins.emplace(*stack.file);
    batch_table.emplace(*stack.file);
    batch_rows.emplace(*batch_table, kRowsAgain);
    maintenance.emplace(*stack.file, clock);
  } else if (opened.error().reason == cache::sqlite::kLocked || opened.error().reason == kNotOwn) {
    // These two are told and end the start: another daemon has the store, or a stranger could have
    // written it. Any other trouble costs only what would have been kept. See spec/cache 1.3
    return opened.error();
  } else {
    log.Write(LogLevel::kWarning, "store", "results are kept in memory only",
              {{"cause", ErrorText(opened.error())}});
    state.Degrade(
        (opened.error().code == ErrorCode::kFull ? "cache-full: " : "cache-memory-only: ") +
        opened.error().context);
  }
  stack.Compose(config, options.writes_upstream, clock, log, options.on_access);
  return {};
}

// The parts of the store for services that do more than get and put.
rpc::StoreAdmin DaemonEngine::WholeStore() {
  const cache::LimitedStore::Options limits{.max_bytes = config.cache_max_bytes};
  return {.maintenance = maintenance.has_value() ? &*maintenance : nullptr,
          .pins = bounded_pins.has_value() ? &*bounded_pins : nullptr,
          .uploads = *stack.uploads,
          .held = *held,
          .metrics = *stack.top,
          .memory_bytes = [this] { return stack.memory->bytes(); },
          .forget = [this] { DropCaches(); },
          .has_upstream = !stack.upstreams.empty(),
          .writes_upstream = std::ranges::any_of(
              stack.upstreams, [](const auto& upstream) { return upstream->writes(); }),
          .max_bytes = limits.max_bytes,
          .low_bytes = limits.max_bytes / 100 * limits.low_percent};
}

// Called when memory is short and when the content of the store was changed by hand. What is filled
// anew in between is right, so the order does not matter.
void DaemonEngine::DropCaches() {
  stack.memory->Clear();
  builder->Forget();
}

// Null where nothing is kept: a batch then asks for every result again.
std::function<uint64_t()> DaemonEngine::LossesOfStore() {
  if (stack.file == nullptr) {
    return nullptr;
  }
  // A sum of two numbers that only grow: it stays the same exactly if neither changed.
  return [this] { return stack.file->removals() + builder->distrusted(); };
}

// An input that ran when the last daemon died has had one attempt; after three it is poison. The
// attempts are files beside the cache, because the database itself may be what was lost in the
// crash.
void DaemonEngine::OpenAttempts() {
  if (stack.file == nullptr) {
    return;  // nothing is kept
  }
  const auto seconds = [](Duration time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
  };
  Result<std::unique_ptr<jobs::CrashGuard>> opened =
      jobs::CrashGuard::Open((config.cache_dir / "attempts").string(), seconds(clock.UnixTime()),
                             seconds(config.negative_ttl));
  if (!opened.ok()) {
    log.Write(LogLevel::kWarning, "daemon", "what crashes kilnd will not be known",
              {{"cause", opened.error().context}});
    return;
  }
  attempts = std::move(opened).value();
  std::vector<cache::Item> poison;
  for (const jobs::CrashGuard::InterruptedInput& found : attempts->found()) {
    log.Write(LogLevel::kWarning, "daemon", "was being worked on when kilnd died",
              {{"key", cache::KeyText(found.key)}, {"attempts", found.attempts}});
    if (found.attempts >= jobs::CrashGuard::kMost) {
      poison.push_back(compile::PoisonItem(found.key));
    }
  }
  poisoned_by_crash = poison.size();
  if (!poison.empty()) {
    (void)stack.top->Put(poison, cache::Durability::kDurable, {});  // else it is tried once more
  }
}

// Each share is of the results that are built anew. With both at 0 there is no second look and no
// cost.
void DaemonEngine::MakeSecondLook() {
  if (config.twice_percent == 0 && config.validate_percent == 0) {
    return;
  }
  result_audit.emplace(
      *recipes, queue, clock, log,
      compile::ResultAudit::Options{
          .twice_percent = config.twice_percent,
          .validate_percent = config.validate_percent,
          .on_invalid = [this] { metrics.Count("kiln_internal_errors_total", {}); }});
  builder->OnBuilt([this](const compile::FreshResult& built) { result_audit->Note(built); });
}

// The order is the one in which a request meets them.
std::vector<CacheUsage> DaemonEngine::CachesInMemory() {
  std::vector<CountedCache*> all = builder->caches();
  all.insert(all.begin(), &requests.cache());
  all.insert(all.end(), {&recipes->cache(), &*stack.memory, &*stack.uploads});
  if (stack.file != nullptr) {
    all.push_back(&stack.file->cache());
  }
  std::vector<CacheUsage> usages;
  for (CountedCache* const one : all) {
    usages.push_back(one->Usage());
  }
  return usages;
}

// What the audit found wrong; health does not recover from it.
void DaemonEngine::AddFaults(std::vector<std::string>& reasons) const {
  if (!result_audit.has_value()) {
    return;
  }
  const compile::ResultAuditCounters& counters = result_audit->counters();
  if (counters.different != 0) {
    reasons.push_back("nondeterminism: " + std::to_string(counters.different) +
                      " results differ when they are built again; see the log");
  }
  if (counters.invalid != 0) {
    reasons.push_back("invalid-spirv: " + std::to_string(counters.invalid) +
                      " modules are not valid; see the log");
  }
}

// Makes everything that builds, from the pool of programs to the services' view of all of it. Each
// part refers to some of those before it.
void DaemonEngine::Make(rpc::DeferredEngine& deferred) {
  OpenAttempts();
  pool.emplace(*stack.top, kPoolBytes, config.language_limits, attempts.get(),
               config.isolate_front_ends ? &worker_pool : nullptr);
  recipes.emplace(*stack.top, worker_pool, clock);
  builder.emplace(*stack.top, *pool, clock, &*recipes, attempts.get());
  builder->ReportTo(*stack.memory);
  MakeSecondLook();
  explains.emplace(
      explain_table.has_value() ? &*explain_table : nullptr, clock,
      cache::ExplainRing::Options{
          .why_absent =
              [this](const Hash128& signature) { return WhyAbsent(stack, signature, clock); },
          .unanswered = [this] { return Unanswered(stack); },
          .on_stage =
              [this](const std::string& stage, uint64_t us) {
                metrics.Time("kiln_stage_seconds", "stage", stage, std::chrono::microseconds(us));
              }});
  held.emplace(leases.has_value() ? &*leases : nullptr, *stack.top, clock);
  if (pins.has_value()) {
    bounded_pins.emplace(*pins, *maintenance, *stack.top, config.cache_max_bytes);
  }
  shelf.emplace(
      config.cache_dir / "packs",
      compile::PackShelf::Options{.max_bytes = std::max(config.cache_max_bytes, kLeastPackBytes)});
  batches.emplace(
      *builder, *stack.top, queue, clock,
      compile::Batches::Options{
          .workers = config.workers,
          .spec_bytes = std::clamp(config.cache_max_bytes / 8, kLeastSpecBytes, kMostSpecBytes),
          .losses = LossesOfStore(),
          .explains = &*explains,
          .leases = leases.has_value() ? &*leases : nullptr,
          .pins = bounded_pins.has_value() ? &*bounded_pins : nullptr,
          .rows = batch_rows.has_value() ? &*batch_rows : nullptr,
          .slowed_by = slowed_by,
          .over = GiveBackMuch,
          .attempts = attempts.get()});
  watches.emplace(
      *builder, *explains, queue, clock,
      reload::Subscriptions::Options{.workers = config.workers,
                                     .epoch = RandomEpoch(),
                                     .max_sessions = config.limits.watch_sessions,
                                     .max_subscribers = config.limits.watch_subscribers});
  // Taken means renamed: a crash is told by one run of the daemon.
  last_crash = ops::TakeCrashReports(config.cache_dir.string()).value_or("");
  deferred.Make({.store = *stack.top,
                 .pool = *pool,
                 .builder = *builder,
                 .batches = *batches,
                 .explains = *explains,
                 .clock = clock,
                 .whole = WholeStore(),
                 .shelf = *shelf,
                 .watches = *watches,
                 .requests = requests});
}

}  // namespace kiln::server
