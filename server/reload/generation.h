// SPDX-License-Identifier: MIT
// One program of one generation: prepared, its variants of interest built, then the rest of its
// space, one variant a step, so that a newer push may take over between any two. Knows nothing of
// sessions: sources in -> variants, diagnostics and counts out. See spec/daemon 8.3.4
//
// Threads: one at a time; several programs may be worked on at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "cache/explain/explain_ring.h"
#include "compiler/base/clock.h"
#include "server/compile/batch/batch.h"
#include "server/compile/batch/merged_failures.h"
#include "server/compile/cached_build.h"
#include "server/reload/event.h"
#include "server/reload/included_files.h"

namespace kiln::reload {

// Options as a name, in the order of names: "fog=true lights=4u".
std::string VariantName(const Options& options);

// A variant that somebody looks at.
struct Interest {
  std::string program;
  OptionsPtr options;
  std::string variant;  // VariantName of the options
};

// Whom work is done for.
struct WorkOwner {
  std::string project;
  Hash128 session;  // SessionKey::Id; zero: one that does not come back
};

struct WorkRequest {
  WorkOwner whose;
  compile::BatchProgram program;   // with the targets that somebody wants
  std::vector<Interest> interest;  // of this program
  // What the entries of the targets were when all was well; empty: not known. If they are the
  // same, nothing can have changed.
  std::vector<Hash128> known_entries;
  // No variant of it was well in this process: those that are not well now are looked for in the
  // cache as they were.
  bool recover = false;
  uint64_t max_results = compile::kMaxResults;
};

// What steps work with; all outlive them.
struct Workshop {
  compile::CachedBuild& builder;
  cache::ExplainRing& explains;
  Clock& clock;
};

struct BuiltVariant {
  std::string variant;
  OptionsPtr options;
  std::shared_ptr<const compile::Artifact> artifact;
  Hash128 state;  // artifact::StateHash of its metadata
};

// How the pipeline of an outcome with an artifact is set up (artifact::StateHash); if that is not
// to be found out, it counts as set up anew.
Hash128 StateOf(compile::CachedBuild& builder, const compile::Outcome& outcome,
                const cache::Call& call);

// What a step brought.
struct StepResult {
  std::vector<BuiltVariant> built;
  DiagnosticsPtr diagnostics;  // not null: all that there is to say so far
  std::string problem;         // not empty: why the program cannot be built, in words
  ProbedPaths probed;          // not null: what the includes of its sources asked for
  uint64_t compiled = 0, shared = 0, failed = 0;
};

class ProgramWork {
 public:
  enum class Phase : uint8_t { kPrepare, kInterest, kPoints, kDone };

  explicit ProgramWork(WorkRequest request) : request_(std::move(request)) {}

  // Requires: not done.
  StepResult Step(const Workshop& shop, const cache::Call& outer);
  void Cancel() { stop_.request_stop(); }

  Phase phase() const { return phase_; }
  // Nobody has to wait for what is left.
  bool in_background() const { return phase_ == Phase::kPoints; }
  const WorkRequest& request() const { return request_; }

  // Once done:
  bool failed() const { return failed_; }              // somewhere
  bool ir_identical() const { return ir_identical_; }  // and so nothing was looked at
  // Built anew without lowering anything: what changed cannot be reached.
  bool not_reachable() const { return compiled_ != 0 && lowered_ == 0; }
  const std::vector<Hash128>& entries() const { return entries_; }
  const std::set<std::string>& variants() const { return variants_; }  // names of all

 private:
  StepResult Prepare(const Workshop& shop, const cache::Call& call);
  StepResult BuildInterest(const Workshop& shop, const cache::Call& call);
  StepResult BuildPoint(const Workshop& shop, const cache::Call& call);
  Result<void> ListPoints(Clock& clock, const cache::Call& call);
  struct BuildFindings {
    bool well = true;
    std::vector<PlacedDiagnostic> diagnostics;
  };
  // Builds for all targets.
  BuildFindings Build(const Workshop& shop, const OptionsPtr& options, const std::string& variant,
                      const cache::Call& call, StepResult& result);
  // The last good artifacts of a variant and target that are not well; all of them without names.
  void Recover(const Workshop& shop, const cache::Call& call, const std::string* variant,
               const std::string* target, StepResult& result);
  StepResult Failed(std::string problem);
  DiagnosticsPtr AllDiagnostics() const;

  const WorkRequest request_;
  std::stop_source stop_;
  Phase phase_ = Phase::kPrepare;
  std::vector<std::shared_ptr<const compile::PreparedProgram>> prepared_;  // by target
  std::vector<Hash128> entries_;
  size_t next_ = 0;  // interest, then point
  std::optional<compile::BatchPoints> points_;
  std::set<std::string> variants_;
  std::map<std::string, BuildFindings> of_interest_;  // by variant
  compile::MergedFailures failures_;                  // of points
  std::vector<PlacedDiagnostic> warnings_;            // of points that are well
  bool failed_ = false;
  bool broken_ = false;  // by the world: the rest would fail as well
  bool ir_identical_ = false;
  uint64_t compiled_ = 0;
  uint64_t lowered_ = 0;
  std::optional<std::vector<BuiltVariant>> last_good_;  // of earlier processes, once looked for
};

}  // namespace kiln::reload
