// SPDX-License-Identifier: MIT
#include "tests/bench/durable_engine.h"

#include <set>
#include <utility>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/decorators/limited_store.h"
#include "cache/decorators/memory_store.h"
#include "cache/decorators/metrics_store.h"
#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/check.h"
#include "compiler/base/log.h"
#include "server/compile/pack/pack_plan.h"
#include "server/jobs/memory_queue.h"
#include "server/jobs/worker.h"
#include "tests/bench/await_batch.h"

namespace kiln::bench {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{256} << 20;
constexpr uint64_t kPoolBytes = uint64_t{512} << 20;

class SilentLog final : public LogSink {
  void Take(const LogEntry&) override {}
};

// Keeps what is put on its way down.
class RecordingStore final : public cache::BlobStore {
 public:
  RecordingStore(cache::BlobStore& below, Recording* recording)
      : below_(below), recording_(recording) {}
  Result<cache::Blob> Get(const cache::Key& key, const cache::Call& call) override {
    return below_.Get(key, call);
  }
  Result<cache::PutResult> Put(std::span<const cache::Item> items, cache::Durability durability,
                               const cache::Call& call) override {
    if (recording_ != nullptr) {
      recording_->push_back({.items = {items.begin(), items.end()}, .durability = durability});
    }
    return below_.Put(items, durability, call);
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key> keys,
                                              const cache::Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const cache::Key> keys) override { below_.Touch(keys); }

 private:
  cache::BlobStore& below_;
  Recording* const recording_;  // one worker puts
};

std::unique_ptr<cache::sqlite::SqliteStore> OpenFile(const std::filesystem::path& dir, Clock& clock,
                                                     LogSink& log) {
  cache::sqlite::SqliteOptions options;
  options.dir = dir;
  options.must_own = true;
  Result<std::unique_ptr<cache::sqlite::SqliteStore>> file =
      cache::sqlite::SqliteStore::Open(options, clock, log);
  KILN_CHECK(file.ok(), "no store");
  return std::move(file).value();
}

}  // namespace

struct DurableEngine::Parts {
  Parts(const std::filesystem::path& dir, Recording* recording)
      : file(OpenFile(dir, clock, log)),
        compressing(*file, *file, &file->dictionaries()),
        checked_file(compressing, *file),
        limited(checked_file, *file, {.min_free_bytes = 0}),
        memory(&limited, file.get(), {.max_bytes = kMemoryBytes}),
        checked(memory, memory),
        metrics(checked, clock),
        top(metrics, recording),
        pool(top, kPoolBytes),
        builder(top, pool, clock),
        queue({.interactive = 16, .batch = 1000}),
        workers({.both = 1, .express = 0}, queue, log),
        batches(builder, top, queue, clock, {}) {}
  ~Parts() {
    batches.CancelAll();
    queue.Close();
  }

  SystemClock clock;
  SilentLog log;
  std::unique_ptr<cache::sqlite::SqliteStore> file;
  cache::CompressingStore compressing;
  cache::CheckedStore checked_file;
  cache::LimitedStore limited;
  cache::MemoryStore memory;
  cache::CheckedStore checked;
  cache::MetricsStore metrics;
  RecordingStore top;
  compile::ProgramPool pool;
  compile::CachedBuild builder;
  jobs::MemoryQueue queue;
  jobs::Workers workers;
  compile::Batches batches;
  uint64_t next_batch = 1;
};

Recording WithoutRepetition(const Recording& recording) {
  std::set<std::pair<cache::Level, Hash128>> known;
  Recording kept;
  for (const RecordedPut& put : recording) {
    RecordedPut& added = kept.emplace_back(RecordedPut{.items = {}, .durability = put.durability});
    for (const cache::Item& item : put.items) {
      // What is put durably is put again so that it is acknowledged.
      if (known.emplace(item.key.level, item.key.id).second ||
          put.durability == cache::Durability::kDurable) {
        added.items.push_back(item);
      }
    }
  }
  return kept;
}

DurableEngine::DurableEngine(const std::filesystem::path& dir, Recording* recording)
    : parts_(std::make_unique<Parts>(dir, recording)) {}

DurableEngine::~DurableEngine() = default;

compile::BatchProgress DurableEngine::Build(const compile::BatchRequest& request) {
  const std::string name = std::to_string(parts_->next_batch++);
  const Hash128 id = HashBytes(AsBytes(name));
  KILN_CHECK(parts_->batches.Start(id, request).ok(), "the queue is full");
  return AwaitBatch(parts_->batches, id).progress;
}

Result<pack::WriteReport> DurableEngine::Pack(const compile::BatchRequest& request,
                                              const pack::WriteOptions& options,
                                              const std::string& path) {
  KILN_TRY(const std::vector<compile::PackProgram> programs,
           compile::PackProgramsOf(parts_->builder, request, parts_->clock, {}));
  KILN_TRY(const compile::PackPlan plan, compile::PlanPack(parts_->builder, parts_->top, programs,
                                                           [](uint64_t, uint64_t) {}, {}));
  compile::PackContent content(parts_->builder, programs, plan);
  const pack::BlobSource blobs = [&](const Digest& digest) -> Result<Bytes> {
    KILN_TRY(const cache::Blob blob, content.Read(digest, {}));
    return Bytes(blob.bytes.begin(), blob.bytes.end());
  };
  return pack::WritePack(plan.contents, blobs, options, path);
}

void DurableEngine::Put(const Recording& recording) {
  for (const RecordedPut& put : recording) {
    KILN_CHECK(put.items.empty() || parts_->top.Put(put.items, put.durability, {}).ok(), "no put");
  }
}

EngineCounts DurableEngine::counts() const {
  const compile::PoolCounters pool = parts_->pool.Counters();
  const compile::BuildCounters& built = parts_->builder.counters();
  return {.parsed = pool.parsed,
          .linked = pool.linked,
          .regions_lowered = built.regions_lowered,
          .modules_written = built.modules_written};
}

}  // namespace kiln::bench
