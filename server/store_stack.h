// SPDX-License-Identifier: MIT
// The daemon's stores, one over another, and what they tell of themselves. See spec/cache 5, 7
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/decorators/fault_store.h"
#include "cache/decorators/journalling_store.h"
#include "cache/decorators/last_error_store.h"
#include "cache/decorators/limited_store.h"
#include "cache/decorators/memory_store.h"
#include "cache/decorators/metrics_store.h"
#include "cache/decorators/read_through_store.h"
#include "cache/decorators/upload_store.h"
#include "cache/explain/explain_ring.h"
#include "cache/sqlite/sqlite_store.h"
#include "cache/upstream/grpc_store.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "server/config.h"
#include "server/ops/line_log.h"
#include "server/rpc/reactors/host.h"

namespace kiln::server {

// Content that was damaged on the way is a miss like any other; the log says that it happened.
class UpstreamDamage final : public cache::DamageSink {
 public:
  explicit UpstreamDamage(ops::LineLog& log) : log_(log) {}
  void Report(const cache::Damage& damage) override {
    log_.Write(LogLevel::kWarning, "upstream", "answered with the wrong content",
               {{"key", cache::KeyText(damage.key)}, {"reason", damage.reason}});
  }

 private:
  ops::LineLog& log_;
};

// checked(metrics(watched(upstream))) behind a journal, over what is nearer.
class Upstream {
 public:
  Upstream(std::unique_ptr<cache::upstream::GrpcStore> far, const UpstreamConfig& config,
           cache::BlobStore& nearer, const std::filesystem::path& dir, bool writes, Clock& clock,
           ops::LineLog& log);

  // Asks it, unless somebody does or did within a second. Takes up to some seconds.
  void Look(const cache::Call& call);
  rpc::UpstreamRow Row();
  // Why the last read got no answer; nothing if it got one, or there was none.
  std::optional<cache::LastErrorStore::Failure> failure() {
    return watched_.failure(cache::LastErrorStore::kReads);
  }

  cache::ReadThroughStore& store() { return *store_; }
  const cache::MetricsStore& metrics() const { return metrics_; }
  const std::string& url() const { return url_; }
  bool writes() const { return writes_; }
  // Puts that were to be sent there and were dropped, since everything had been sent.
  uint64_t lost() { return journal_.has_value() ? journal_->status().lost : 0; }

 private:
  const std::string url_;
  const bool writes_;
  Clock& clock_;
  UpstreamDamage damage_;
  std::unique_ptr<cache::upstream::GrpcStore> far_;
  cache::LastErrorStore watched_;
  cache::MetricsStore metrics_;
  cache::CheckedStore checked_;
  std::optional<cache::JournallingStore> journal_;
  std::optional<cache::ReadThroughStore> store_;
  Mutex mutex_;
  bool looking_ KILN_GUARDED_BY(mutex_) = false;
  Duration looked_ KILN_GUARDED_BY(mutex_) = Duration::min();
  Duration latency_ KILN_GUARDED_BY(mutex_){};  // of the last answer to Look; zero: none
};

// metrics(uploads(checked(memory(read_through(limited(checked(compressing(sqlite))),
// checked(upstream)))))), without read_through if there is no upstream, or
// metrics(uploads(checked(memory))) without a file; in tests faulty is below uploads. Each part
// uses those above it in this list.
struct Stack {
  std::unique_ptr<cache::sqlite::SqliteStore> file;  // null: nothing is kept
  std::optional<cache::CompressingStore> compressing;
  std::optional<cache::CheckedStore> checked_file;
  std::optional<cache::LimitedStore> limited;
  std::vector<std::unique_ptr<Upstream>> upstreams;  // nearest first; with a file only
  std::optional<cache::MemoryStore> memory;
  std::optional<cache::CheckedStore> checked;
  std::optional<cache::FaultStore> faulty;  // of tests
  std::optional<cache::UploadStore> uploads;
  std::optional<cache::MetricsStore> top;

  // `on_access` is called before every access; null but in tests.
  void Compose(const Config& config, bool writes_upstream, Clock& clock, ops::LineLog& log,
               const std::function<void()>& on_access = nullptr);
};

// Requests to all upstreams, by operation and result.
cache::CallCounts UpstreamCalls(const Stack& stack);

// All upstreams, nearest first; `check`: asks each of them first.
std::vector<rpc::UpstreamRow> UpstreamRows(const Stack& stack, bool check, const cache::Call& call);

// Why results are not kept right now.
std::vector<std::string> StoreConditions(const Stack& stack);

// Who of the upstreams gave no answer the last time, and why; empty: all did.
std::string Unanswered(const Stack& stack);

// Why a result that was asked for before is not in the store.
cache::Absence WhyAbsent(const Stack& stack, const Hash128& signature, Clock& clock);

}  // namespace kiln::server
