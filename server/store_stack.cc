// SPDX-License-Identifier: MIT
#include "server/store_stack.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <utility>

#include "cache/upstream/grpc_store.h"

namespace kiln::server {
namespace {

// The token that a file holds, or nothing.
std::string TokenIn(const std::string& file) {
  std::ifstream in(file);
  std::string token;
  std::getline(in, token);
  return token;
}

// Whether an upstream could not be asked.
cache::Absence UpstreamDown(const Stack& stack, int64_t now_s) {
  for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
    if (const auto since = upstream->store().breaker().OpenSince(); since.has_value()) {
      return {.cause = cache::Cause::kUpstreamUnreachable,
              .detail = upstream->url() + ", since " +
                        std::to_string(std::max<int64_t>(0, now_s - *since)) + " s"};
    }
  }
  return {};
}

}  // namespace

Upstream::Upstream(std::unique_ptr<cache::BlobStore> far, const UpstreamConfig& config,
                   cache::BlobStore& nearer, const std::filesystem::path& dir, bool writes,
                   Clock& clock, ops::LineLog& log)
    : url_(config.url),
      damage_(log),
      far_(std::move(far)),
      counted_(*far_),
      checked_(counted_, damage_) {
  if (writes) {  // one journal for each, wherever it stands in the list
    journal_.emplace(checked_, clock,
                     cache::JournallingStore::Options{.dir = dir / "upstream" /
                                                             HashBytes(AsBytes(config.url)).hex()});
  }
  cache::BlobStore& writing =
      journal_.has_value() ? static_cast<cache::BlobStore&>(*journal_) : checked_;
  store_.emplace(
      nearer, checked_, writing, clock,
      cache::ReadThroughStore::Options{
          .deadline = config.deadline, .writes = writes, .on_change = [this, &log](bool is_open) {
            log.Write(is_open ? LogLevel::kWarning : LogLevel::kInfo, "upstream",
                      is_open ? "does not answer" : "answers again", {{"url", url_}});
          }});
}

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
    for (const UpstreamConfig& upstream : config.upstreams) {
      auto far = cache::upstream::GrpcStore::Open(
          {.url = upstream.url, .token = TokenIn(upstream.token_file)}, clock);
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
  top.emplace(faulty.has_value() ? static_cast<cache::BlobStore&>(*faulty) : *checked, clock);
}

cache::CallCounts UpstreamCalls(const Stack& stack) {
  cache::CallCounts sum{};
  for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
    const cache::CallCounts counts = upstream->counted().Counts();
    for (size_t op = 0; op < cache::kStoreOpCount; ++op) {
      for (size_t result = 0; result < cache::kCallResultCount; ++result) {
        sum[op][result] += counts[op][result];
      }
    }
  }
  return sum;
}

// Why results are not kept right now.
std::vector<std::string> StoreConditions(const Stack& stack) {
  const cache::sqlite::SqliteStore* const store = stack.file.get();
  std::vector<std::string> reasons;
  for (const std::unique_ptr<Upstream>& upstream : stack.upstreams) {
    if (upstream->store().breaker().OpenSince().has_value()) {
      reasons.push_back("upstream-down: " + upstream->url());
    }
  }
  if (store != nullptr) {
    const cache::sqlite::SqliteStatus status = store->Status();
    if (status.full) {
      reasons.emplace_back("cache-full: the disk is full; results are not stored");
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

// Why a result that was asked for before is not in the store.
cache::Absence WhyAbsent(const Stack& stack, const Hash128& signature, Clock& clock) {
  const cache::sqlite::SqliteStore* const store = stack.file.get();
  if (store == nullptr || !store->Status().open) {
    return {.cause = cache::Cause::kStoreOff, .detail = "results are kept in memory only"};
  }
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count();
  const std::optional<cache::Removal> removal = store->WhyRemoved(signature);
  if (!removal.has_value()) {
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
