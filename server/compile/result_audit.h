// SPDX-License-Identifier: MIT
// What is looked at again behind an answer: a share of the results is built once more by the direct
// path of the driver, which knows nothing of what others were built, and compared; and modules are
// validated, once for each distinct one. It changes no answer, and nobody waits for it.
// See spec/daemon 15 (audit.twice_percent, validate.spirv); spec/cache 4.5
//
// What is due waits in memory, bounded; a job of the batch lane works it off in short slices, so
// that batches keep nearly all of the lane. What finds no room is not looked at, and counted.
//
// Threads: all functions may run concurrently. One mutex guards what waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/lru_map.h"
#include "compiler/base/mutex.h"
#include "server/compile/cached_build.h"
#include "server/compile/recipes.h"
#include "server/jobs/queue.h"

namespace kiln::compile {

struct ResultAuditCounters {
  std::atomic<uint64_t> rebuilt{0};
  std::atomic<uint64_t> different{0};  // of these
  std::atomic<uint64_t> validated{0};  // modules, known ones too
  std::atomic<uint64_t> invalid{0};    // of these; poison too
  std::atomic<uint64_t> skipped{0};    // for want of room
};

// Whether an id is in a sample of so many percent; decided by the id alone.
bool IsSampled(const Hash128& id, uint32_t percent);

class ResultAudit {
 public:
  struct Options {
    uint32_t twice_percent = 0;
    uint32_t validate_percent = 0;
    size_t most_results = 1024;  // that wait; they hold programs
    size_t most_modules = 65'536;
    std::function<void()> on_invalid = {};  // called once for each
  };
  // All must outlive the object, which must outlive the jobs of the queue.
  ResultAudit(Recipes& recipes, jobs::JobQueue& queue, Clock& clock, LogSink& log, Options options)
      : recipes_(recipes), queue_(queue), clock_(clock), log_(log), options_(std::move(options)) {}

  // Of a result that was made now. Returns at once.
  void Note(const FreshResult& built);

  const ResultAuditCounters& counters() const { return counters_; }

 private:
  struct RebuildTask {
    std::shared_ptr<const Diagnosed<driver::LinkedProgram>> linked;
    std::vector<resolve::EntryPoint> entries;
    target::Target target;
    bool metadata_only = false;
    resolve::OptionValues values;
    Hash128 signature;
    std::shared_ptr<const cache::Record> record;
  };
  struct Module {
    target::Environment environment = target::Environment::kVulkan11;
    Digest digest;
  };

  bool AddResult(const FreshResult& built) KILN_REQUIRES(mutex_);
  bool AddModules(const FreshResult& built) KILN_REQUIRES(mutex_);
  void Skip() KILN_REQUIRES(mutex_);
  void Submit();
  void Work(const cache::Call& call);
  void Broke(const Error& error);
  void Rebuild(const RebuildTask& result, const cache::Call& call);
  void Validate(const Module& module, const cache::Call& call);

  Recipes& recipes_;
  jobs::JobQueue& queue_;
  Clock& clock_;
  LogSink& log_;
  const Options options_;
  ResultAuditCounters counters_;
  Mutex mutex_;
  std::deque<RebuildTask> results_ KILN_GUARDED_BY(mutex_);
  std::deque<Module> modules_ KILN_GUARDED_BY(mutex_);
  struct ValidatedModule {};
  // Modules that were looked at; the oldest are known by their record.
  LruMap<Hash128, ValidatedModule, Hash128Hash> seen_ KILN_GUARDED_BY(mutex_);
  bool working_ KILN_GUARDED_BY(mutex_) = false;
};

}  // namespace kiln::compile
