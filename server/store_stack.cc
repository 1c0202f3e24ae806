// SPDX-License-Identifier: MIT
// The one place where the decorators of the store are put together (spec/cache 5.4), and what the
// rest of the daemon asks about them: why something is absent, what is degraded, how upstreams do.
#include "server/store_stack.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kiln::server {
namespace {

// How often, and for how long, a look at the status may ask an upstream.
constexpr Duration kLookEvery = std::chrono::seconds(1);
constexpr Duration kLookTime = std::chrono::seconds(2);

// Whether an upstream could not be asked. The nearest one that fails is named: the others are asked
// through it.
cache::Absence UpstreamDown(const Stack& stack, int64_t now_s) {
  for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
    if (const auto failure = upstream->failure(); failure.has_value()) {
      return {.cause = cache::Cause::kUpstreamUnreachable,
              .detail = upstream->url() + ", since " +
                        std::to_string(std::max<int64_t>(0, now_s - failure->since_s)) +
                        " s: " + failure->error.context};
    }
  }
  return {};
}

}  // namespace

// From the outside in: checks, counts, watch of failures, the connection. Whatever came over the
// network is checked again outside of everything else (spec/cache 7.3).
Upstream::Upstream(std::unique_ptr<cache::upstream::GrpcStore> far, const UpstreamConfig& config,
                   cache::BlobStore& nearer, const std::filesystem::path& dir, bool writes,
                   Clock& clock, ops::LineLog& log)
    : url_(config.url),
      writes_(writes),
      clock_(clock),
      damage_(log),
      far_(std::move(far)),
      watched_(*far_, clock),
      metrics_(watched_, clock),
      checked_(metrics_, damage_) {
  if (writes) {  // one journal for each, wherever it stands in the list
    journal_.emplace(checked_, clock,
                     cache::JournallingStore::Options{
                         .dir = dir / "upstream" / HashBytes(AsBytes(config.url)).hex(),
                         .on_drop = [this, &log](uint64_t puts) {
                           log.Write(LogLevel::kWarning, "upstream",
                                     "the queue of what is to be sent is full; puts were dropped",
                                     {{"url", url_}, {"puts", puts}});
                         }});
  }
  // What is to be sent is written to a journal first and sent behind the answer: nobody waits for
  // the network, and what was not sent yet is found again after a restart.
  cache::BlobStore& writing =
      journal_.has_value() ? static_cast<cache::BlobStore&>(*journal_) : checked_;
  store_.emplace(
      nearer, checked_, writing, clock,
      cache::ReadThroughStore::Options{
          .deadline = config.deadline, .writes = writes, .on_change = [this, &log](bool is_open) {
            if (is_open) {
              const auto failure = this->failure();
              log.Write(LogLevel::kWarning, "upstream", "does not answer",
                        {{"url", url_},
                         {"cause", failure.has_value() ? failure->error.context : "no answer"}});
            } else {
              log.Write(LogLevel::kInfo, "upstream", "answers again", {{"url", url_}});
            }
          }});
}

void Upstream::Look(const cache::Call& call) {
  const Duration begun = clock_.Monotonic();
  {
    const MutexLock lock(mutex_);
    // Many people may look at the status; the upstream is asked once a second at most, and by one
    // of them.
    if (looking_ || (looked_ != Duration::min() && begun - looked_ < kLookEvery)) {
      return;
    }
    looking_ = true;
  }
  const Result<void> answer =
      far_->Check({.stop = call.stop, .deadline = std::min(call.deadline, begun + kLookTime)});
  watched_.Note(answer);
  const MutexLock lock(mutex_);
  looking_ = false;
  looked_ = clock_.Monotonic();
  latency_ = answer.ok() ? looked_ - begun : Duration::zero();
}

// A failed read matters more than a failed write, since results that cannot be read are compiled
// here. So only one of them is told, and the read first.
rpc::UpstreamRow Upstream::Row() {
  rpc::UpstreamRow row{.url = url_, .writes = writes_, .asked = watched_.asked()};
  if (const auto read = failure(); read.has_value()) {
    row.cause = read->error.context;
    row.since_s = read->since_s;
  } else if (const auto write = watched_.failure(cache::LastErrorStore::kWrites);
             write.has_value()) {
    row.cause = "nothing can be sent there: " + write->error.context;
    row.since_s = write->since_s;
  }
  const MutexLock lock(mutex_);
  row.latency = latency_;
  return row;
}

// The decorators from the inside out, as drawn in the header. Each upstream stands between memory
// and what is nearer: the first in the list is asked first, and what any of them has is kept in all
// that are nearer. An upstream that cannot even be opened is left out, since results are right
// without it.
void Stack::Compose(const Config& config, bool writes_upstream, Clock& clock, ops::LineLog& log,
                    const std::function<void()>& on_access) {
  cache::BlobStore* below = nullptr;
  if (file != nullptr) {
    compressing.emplace(*file, *file, &file->dictionaries());
    checked_file.emplace(*compressing, *file);
    limited.emplace(*checked_file, *file,
                    cache::LimitedStore::Options{.max_bytes = config.cache_max_bytes,
                                                 .min_free_bytes = config.cache_min_free_bytes});
    below = &*limited;
    // Each upstream wraps what is below it and asks that first: the file comes before the first
    // upstream, and the first one before the second.
    for (const UpstreamConfig& upstream : config.upstreams) {
      auto far = cache::upstream::GrpcStore::Open(
          {.url = upstream.url,
           .token_file = upstream.token_file,
           .tls = {.ca = upstream.tls_ca, .cert = upstream.tls_cert, .key = upstream.tls_key}},
          clock);
      if (!far.ok()) {  // LoadConfig refuses others
        continue;
      }
      upstreams.push_back(
          std::make_unique<Upstream>(std::move(far).value(), upstream, *below, config.cache_dir,
                                     upstream.writes && writes_upstream, clock, log));
      below = &upstreams.back()->store();
    }
  }
  memory.emplace(below, file.get(),
                 cache::MemoryStore::Options{.max_bytes = config.cache_memory_bytes});
  checked.emplace(*memory, *memory);
  if (on_access != nullptr) {
    constexpr uint32_t kAlways = 1000;
    faulty.emplace(*checked, cache::FaultStore::Plan{.delay = kAlways, .on_delay = on_access});
  }
  uploads.emplace(faulty.has_value() ? static_cast<cache::BlobStore&>(*faulty) : *checked,
                  file != nullptr ? &file->sent_room() : nullptr, clock);
  top.emplace(*uploads, clock);
}

cache::CallCounts UpstreamCalls(const Stack& stack) {
  cache::CallCounts sum{};
  for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
    const cache::CallCounts counts = upstream->metrics().Calls();
    for (size_t op = 0; op < cache::kStoreOpCount; ++op) {
      for (size_t result = 0; result < cache::kCallResultCount; ++result) {
        sum[op][result] += counts[op][result];
      }
    }
  }
  return sum;
}

// Asked one after the other. `call` bounds the whole, so a status waits no longer than its caller.
std::vector<rpc::UpstreamRow> UpstreamRows(const Stack& stack, bool check,
                                           const cache::Call& call) {
  std::vector<rpc::UpstreamRow> rows;
  for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
    if (check) {
      upstream->Look(call);
    }
    rows.push_back(upstream->Row());
  }
  return rows;
}

// Who has most of what the cache keeps beside results.
std::string MostSent(const cache::sqlite::SqliteStore& store) {
  const std::vector<cache::SentContent::Share> shares = store.sent().Shares();
  return shares.empty() ? std::string()
                        : "; " + std::to_string(shares.front().bytes) +
                              " bytes that no result names were sent by " + shares.front().owner;
}

// Why results are not kept right now.
std::vector<std::string> StoreConditions(const Stack& stack) {
  const cache::sqlite::SqliteStore* const store = stack.file.get();
  std::vector<std::string> reasons;
  for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
    if (upstream->store().breaker().OpenSince().has_value()) {
      const auto failure = upstream->failure();
      reasons.push_back("upstream-down: " + upstream->url() +
                        (failure.has_value() ? ": " + failure->error.context : ""));
    }
  }
  for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
    if (const uint64_t lost = upstream->lost(); lost != 0) {
      reasons.push_back("upstream-queue-full: " + upstream->url() + ": " + std::to_string(lost) +
                        " puts that waited to be sent were dropped");
    }
  }
  if (store != nullptr) {
    const cache::sqlite::SqliteStatus status = store->Status();
    if (status.full) {
      reasons.emplace_back("cache-full: the disk is full; results are not stored");
    }
    if (stack.limited.has_value() && stack.limited->IsFull()) {
      reasons.push_back(
          "cache-full: the cache is at cache.max_size; results are not stored until room is made" +
          MostSent(*store));
    }
    if (status.nondeterminism > 0) {
      reasons.emplace_back("nondeterminism: " + std::to_string(status.nondeterminism) +
                           " results differed from their first build; see the quarantine");
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

std::string Unanswered(const Stack& stack) {
  for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
    if (const auto failure = upstream->failure(); failure.has_value()) {
      return "upstream " + upstream->url() + " fails: " + failure->error.context;
    }
  }
  return {};
}

// Why a result that was asked for before is not in the store. The order of reasons: no store,
// removed from it, an upstream that may have had it. An absence without any of them means that it
// was never asked for, or too long ago (spec/cache 11.3).
cache::Absence WhyAbsent(const Stack& stack, const Hash128& signature, Clock& clock) {
  const cache::sqlite::SqliteStore* const store = stack.file.get();
  if (store == nullptr || !store->Status().open) {
    return {.cause = cache::Cause::kStoreOff, .detail = "results are kept in memory only"};
  }
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count();
  const std::optional<cache::Removal> removal = store->WhyRemoved(signature);
  if (!removal.has_value()) {
    // Nothing says that it was removed, so it was never here. An upstream that failed may have had
    // it.
    return UpstreamDown(stack, now_s);
  }
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

}  // namespace kiln::server
