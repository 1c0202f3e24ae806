// SPDX-License-Identifier: MIT
// The first chunk of a batch: every program is prepared and its points are listed, one program
// after the other, before any is built. So the totals are known from the beginning, limits are
// shared between programs in their order, and results that programs have in common are found by
// their entries.
#include "server/compile/batch/batch_scan.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "cache/call_bounds.h"
#include "compiler/base/digest.h"
#include "server/compile/batch/batch_check.h"
#include "server/compile/batch/batch_leases.h"
#include "server/compile/batch/batch_points.h"
#include "server/compile/batch/batch_programs.h"
#include "server/compile/batch/exploration.h"
#include "server/compile/explainer.h"

namespace kiln::compile {
namespace {

// All targets share the linked program; what differs is what keys are made of.
Result<void> Prepare(const BatchProgram& request, CachedBuild& builder, PoisonPolicy poison,
                     const cache::Call& call, BatchRun::Program& program) {
  for (const NamedTarget& target : request.targets) {
    KILN_TRY(std::shared_ptr<const PreparedProgram> prepared,
             builder.Prepare(request.program, target, call, poison));
    program.targets.push_back(std::move(prepared));
  }
  return {};
}

// Points of a program without errors. Errors: as PointsOf.
Result<void> ListPoints(const BatchProgram& request, const PointLimits& limits, Clock& clock,
                        BatchRun::Program& program) {
  if (program.targets.empty() || !program.targets[0]->ok()) {
    return {};
  }
  KILN_TRY(BatchPoints points,
           PointsOf(*program.targets[0]->linked->value, request.space, limits, clock));
  program.points = std::make_shared<BatchPoints>(std::move(points));
  return {};
}

// The inputs that misses of each target are explained with. Compared once for each program, since
// what is explained later are thousands of misses.
void RecordCauses(cache::ExplainRing* explains, const Requester& asker, Clock& clock,
                  BatchRun::Program& program) {
  const auto causes = std::make_shared<std::vector<BatchCauses>>();
  for (const std::shared_ptr<const PreparedProgram>& target : program.targets) {
    if (explains != nullptr) {
      const cache::ExplainRecord record = ExplainRecordOf(*target, asker, {}, clock);
      causes->emplace_back(record, explains->Records(record.slot));
    }
  }
  program.causes = causes;
  program.explained.resize(program.targets.size());
  program.hit_explained.resize(program.targets.size());
}

// What programs of the batch that were not scanned yet may still take.
struct RoomLeft {
  uint64_t results = kMaxBatchResults;
  uint64_t bytes = kMaxPointBytes;
};

// Told of a program; the batch goes on with those that fit.
Error TooManyOfAll() {
  return {.code = ErrorCode::kResourceExhausted,
          .context = fmt::format("with those of the programs before it, more than {} results; "
                                 "build them in several batches",
                                 kMaxBatchResults),
          .reason = "LIMIT_VARIANTS"};
}

// Subtracts the points of a program from what is left, or gives them up.
Result<void> Account(BatchRun::Program& program, RoomLeft& left) {
  // Explorations have their own bound while they run, so they take nothing of what is left.
  const uint64_t results = program.points->exploration != nullptr ? 0 : ResultsUpper(program);
  if (results > left.results) {
    program.points = std::make_shared<BatchPoints>();
    return TooManyOfAll();
  }
  left.results -= results;
  left.bytes -= std::min(left.bytes, program.points->points.bytes());
  return {};
}

Error IsPoison() {
  return {.code = ErrorCode::kResourceExhausted,
          .context =
              "counting its variants ended kilnd three times, so it is left alone; make its "
              "spaces smaller, or start it again with --retry-failed",
          .reason = "INPUT_POISON"};
}

}  // namespace

// Scans are noted with the crash guard under a key of their own domain, so that no result can have
// it.
cache::Key ScanKey(const Hash128& batch) {
  return {.level = cache::Level::kSignature,
          .space = 0,
          .id = HashBytes(AsBytes("scan of batch " + batch.hex()))};
}

// Programs are scanned one after the other, each with what those before it left of the limits of a
// batch. The lists are made outside of the run's lock; what came of each program is told under it,
// and all of them are handed over together, so that no chunk sees a part.
bool ScanBatch(const BatchContext& context, BatchRun& run, const cache::Call& call) {
  const cache::Key key = ScanKey(run.id);
  const bool poisoned =
      context.options.attempts != nullptr && context.options.attempts->IsPoisoned(key);
  if (poisoned && !run.request.retry_failed) {
    const MutexLock lock(run.mutex);
    run.Refuse(IsPoison());
    return false;
  }
  // If the process dies while this exists, the next start counts an attempt for this batch
  // (spec/daemon 14.9).
  const jobs::CrashGuard::Running running(context.options.attempts, key,
                                          jobs::CrashGuard::Running::Place::kBesideOthers);
  HoldLeases(context, run, call);
  std::vector<BatchRun::Program> programs;
  uint64_t total = 0;
  uint64_t upper = 0;
  RoomLeft left;
  for (size_t i = 0; i < run.request.programs.size(); ++i) {
    const BatchProgram& request = run.request.programs[i];
    BatchRun::Program program;
    program.points = std::make_shared<BatchPoints>();
    // Equal to a program of an earlier batch: neither prepared nor counted, and taken over when its
    // turn comes.
    if (ProgramResultsPtr former = run.former.Of(i); former != nullptr) {
      total += former->variants;
      upper += former->results_upper;
      left.results -= std::min(left.results, former->results_upper);
      program.former = std::move(former);
      programs.push_back(std::move(program));
      continue;
    }
    Result<void> scanned =
        Prepare(request, context.builder, PoisonFor(run.request.retry_failed), call, program);
    if (scanned.ok()) {
      scanned = cache::WhileWanted(call, left.bytes, context.clock, [&] {
        return ListPoints(request, LimitsOf(run.request, request), context.clock, program);
      });
    }
    if (call.stop.stop_requested()) {
      return false;
    }
    if (scanned.ok()) {
      scanned = Account(program, left);
    }
    RecordCauses(context.options.explains, run.asker, context.clock, program);
    total += program.points->variants;
    const uint64_t more = ResultsUpper(program);
    // Saturates, since bounds of explorations reach 2^64.
    upper = more > UINT64_MAX - upper ? UINT64_MAX : upper + more;
    program.right = scanned.ok() && !program.targets.empty() && program.targets[0]->ok();
    const MutexLock lock(run.mutex);
    run.NoteScanned(request.program.name, scanned, program);
    programs.push_back(std::move(program));
  }
  const MutexLock lock(run.mutex);
  run.progress.over_budget = false;  // of one program: the others are built
  run.programs = std::move(programs);
  FindGroups(run);
  FindFamilies(run);
  run.scanned = true;
  run.progress.variants_total = total;
  run.progress.results_upper = upper;
  run.Add({.kind = BatchEvent::Kind::kProgress, .progress = run.progress});
  return true;
}

}  // namespace kiln::compile
