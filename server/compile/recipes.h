// SPDX-License-Identifier: MIT
// Finished SPIR-V -> what the recipes of a target make of it. Each recipe runs once per distinct
// module, whatever variant it came from, and its result is a record under a key of its own.
// See spec/cache 2.4, 2.4.7, 4.2; spec/daemon 12
//
// Threads: Apply may be called from any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/record.h"
#include "cache/single_flight.h"
#include "cache/store.h"
#include "compiler/base/bounded_cache.h"
#include "compiler/base/clock.h"
#include "server/compile/request.h"
#include "server/worker/pool.h"

namespace kiln::compile {

struct RecipeCounters {
  std::atomic<uint64_t> validated{0};  // modules, now and not from the cache
  std::atomic<uint64_t> optimised{0};
  std::atomic<uint64_t> translated{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> poisoned{0};
};

// Of a module that was looked at behind an answer.
struct Verdict {
  bool valid = true;
  bool known = false;  // it was looked at before
  std::string report;  // if it is not: why, or what the processes died of
};

class Recipes {
 public:
  // All must outlive the object.
  Recipes(cache::BlobStore& store, worker::Runner& runner, Clock& clock);

  // The outcome with its code replaced by what the recipes of the target make, in their order, and
  // a signature that names that. A module that a recipe refuses makes the outcome a source error,
  // one that killed worker processes poison. Outcomes without artifact are left alone.
  // Errors: kCancelled, kDeadlineExceeded, kUnavailable; of the store.
  struct RunOptions {
    bool may_run = true;  // false: an unknown result is kNotFound, NOT_CACHED
    bool retry_failed = false;
    cache::Durability durability = cache::Durability::kRelaxed;
    std::vector<cache::Item>* rows = nullptr;  // gets those that are kept back (ResultRows)
    bool background = false;                   // nobody waits
  };
  Result<Outcome> Apply(Outcome outcome, const NamedTarget& target, const RunOptions& how,
                        const cache::Call& call);

  // What a recipe makes of a module, to be looked at: nothing is looked up, counted or kept.
  // Errors: kFailedPrecondition with RECIPE_REFUSED or RECIPE_POISON; kCancelled,
  // kDeadlineExceeded, kUnavailable.
  Result<Bytes> Show(const std::string& recipe, ByteView module, const cache::Call& call);

  // Whether a module of the store is valid, looked up or found out at background priority, and
  // remembered as the recipe `val` is. Errors: kNotFound without the module; as Apply.
  Result<Verdict> Validate(target::Environment environment, const Digest& module,
                           const cache::Call& call);

  // Forgets what this process has seen; the store is asked again.
  void Forget() { recent_.Clear(); }
  CountedCache& cache() { return recent_; }

  const RecipeCounters& counters() const { return counters_; }

 private:
  // What a recipe made of one module, or why it did not.
  struct Step {
    cache::RecordKind kind = cache::RecordKind::kOk;
    Digest output;        // kOk
    std::string report;   // else
    uint64_t cpu_us = 0;  // of making it, now or then
    bool known = false;   // it was in the cache
    std::optional<FreshBlob> fresh;
  };
  using StepPtr = std::shared_ptr<const Step>;
  struct RecipeRequest {
    target::Environment environment = target::Environment::kVulkan11;
    std::string recipe;  // canonical
    Digest input;
  };

  Result<StepPtr> Run(const RecipeRequest& asked, const Outcome& outcome, const RunOptions& how,
                      const cache::Call& call);
  StepPtr Known(const Hash128& key, const cache::Call& call);
  bool HasRow(const Hash128& signature, const cache::Call& call);
  void Remember(const Hash128& key, const StepPtr& step);
  Result<StepPtr> Make(const RecipeRequest& asked, const Hash128& key, const Outcome& outcome,
                       const RunOptions& how, const std::function<bool()>& urgent,
                       const cache::Call& call);
  Result<cache::Blob> Input(const Digest& digest, const Outcome& outcome, const cache::Call& call);
  void Count(const Step& step, const std::string& recipe);

  cache::BlobStore& store_;
  worker::Runner& runner_;
  Clock& clock_;
  const Hash128 tool_;
  cache::SingleFlight<StepPtr> flights_;
  RecipeCounters counters_;
  using Steps = BoundedCache<Hash128, StepPtr, Hash128Hash>;
  static constexpr size_t kMaxRecent = 100'000;
  Steps recent_{"recipe steps", {.entries = kMaxRecent}};
};

}  // namespace kiln::compile
