// SPDX-License-Identifier: MIT
// The first chunk of a batch: its programs are prepared and their points listed. Spec: daemon §6.4
#include <memory>
#include <utility>

#include "server/build/batch.h"
#include "server/build/batch_points.h"
#include "server/build/batch_run.h"

namespace kiln::build {
namespace {

Result<void> Prepare(const BatchProgram& request, CachedBuild& builder, Poison poison,
                     const cache::Call& call, BatchRun::Program& program) {
  for (const NamedTarget& target : request.targets) {
    KILN_TRY(std::shared_ptr<const PreparedProgram> prepared,
             builder.Prepare(request.program, target, call, poison));
    program.targets.push_back(std::move(prepared));
  }
  return {};
}

// Points of a program that is right. Errors: as PointsOf.
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

// What misses of each target are explained with.
void RecordCauses(cache::ExplainRing* explains, const Asker& asker, Clock& clock,
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

// Points to build, of all targets.
uint64_t ResultsUpper(const BatchRun::Program& program) {
  uint64_t upper = 0;
  for (const BatchPoint& point : program.points->points) {
    upper += point.targets.empty() ? program.targets.size() : point.targets.size();
  }
  if (program.points->exploration != nullptr) {
    uint64_t explored = 0;
    const bool many = __builtin_mul_overflow(program.points->exploration->bound(),
                                             program.targets.size(), &explored);
    upper = many || explored > UINT64_MAX - upper ? UINT64_MAX : upper + explored;
  }
  return upper;
}

}  // namespace

// Prepares every program and lists its points. False if the batch cannot go on.
bool Batches::Scan(const RunPtr& run, const cache::Call& call) {
  Hold(run);
  std::vector<BatchRun::Program> programs;
  uint64_t total = 0;
  uint64_t upper = 0;
  for (const BatchProgram& request : run->request.programs) {
    BatchRun::Program program;
    program.points = std::make_shared<BatchPoints>();
    Result<void> scanned =
        Prepare(request, builder_, PoisonFor(run->request.retry_failed), call, program);
    if (scanned.ok()) {
      scanned = ListPoints(request, LimitsOf(run->request, request), clock_, program);
    }
    RecordCauses(options_.explains, run->asker, clock_, program);
    total += program.points->variants;
    const uint64_t more = ResultsUpper(program);
    upper = more > UINT64_MAX - upper ? UINT64_MAX : upper + more;
    const MutexLock lock(run->mutex);
    run->NoteScanned(request.program.name, scanned, program);
    programs.push_back(std::move(program));
    if (call.stop.stop_requested()) {
      return false;
    }
  }
  const MutexLock lock(run->mutex);
  run->progress.over_budget = false;  // of one program: the others are built
  run->programs = std::move(programs);
  run->FindFamilies();
  run->scanned = true;
  run->progress.variants_total = total;
  run->progress.results_upper = upper;
  run->Add({.kind = BatchEvent::Kind::kProgress, .progress = run->progress});
  return true;
}

}  // namespace kiln::build
