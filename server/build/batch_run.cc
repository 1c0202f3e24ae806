// SPDX-License-Identifier: MIT
#include "server/build/batch_run.h"

#include <algorithm>
#include <utility>

namespace kiln::build {
namespace {

constexpr size_t kPointsAtOnce = 16;
constexpr size_t kKeptEvents = 4096;

}  // namespace

bool BatchRun::Over() {
  return state == BatchState::kDone || state == BatchState::kFailed ||
         state == BatchState::kCancelled;
}

void BatchRun::Add(BatchEvent event) {
  event.seq = next_seq++;
  events.push_back(std::move(event));
  if (events.size() > kKeptEvents) {
    events.pop_front();
  }
  for (const auto& [number, callback] : subscribers) {
    callback();
  }
}

std::optional<BatchRun::Taken> BatchRun::Take() {
  while (current < programs.size()) {
    Program& program = programs[current];
    const size_t left = program.stopped ? 0 : program.points->points.size() - program.next;
    if (left == 0) {
      ++current;
      continue;
    }
    Taken taken{.program = current,
                .targets = program.targets,
                .points = program.points,
                .first = program.next,
                .count = std::min(left, kPointsAtOnce)};
    program.next += taken.count;
    progress.program = request.programs[current].program.name;
    return taken;
  }
  return std::nullopt;
}

void BatchRun::Note(size_t program, size_t point, const Result<Outcome>& outcome) {
  if (!outcome.ok()) {
    ++progress.unstored;
    return;
  }
  Count(program, point, *outcome);
  const bool wrong = outcome->kind != OutcomeKind::kOk;
  if (wrong && request.on_error == OnError::kStop) {
    stop.request_stop();
  }
  programs[program].stopped |= wrong && request.on_error == OnError::kStopProgram;
}

void BatchRun::Finish(const Taken& taken, uint64_t served) {
  Program& program = programs[taken.program];
  program.done += taken.count;
  progress.variants_served += served;
  if (program.done == program.points->points.size()) {
    ++progress.programs_done;
    AddFailures(taken.program);
    Add({.kind = BatchEvent::Kind::kProgramDone,
         .text = request.programs[taken.program].program.name});
  }
}

void BatchRun::Count(size_t program, size_t point, const Outcome& outcome) {
  if (outcome.kind != OutcomeKind::kOk) {
    ++progress.failed;
    ++progress.results_done;
    programs[program].failures.Add(point, outcome.diagnostics);
    return;
  }
  const Artifact& artifact = *outcome.artifact;
  if (!signatures.insert(artifact.signature).second) {
    return;
  }
  ++progress.results_done;
  progress.hit_memory += artifact.origin == Origin::kMemory ? 1 : 0;
  progress.hit_local += artifact.origin == Origin::kLocal ? 1 : 0;
  progress.hit_upstream += artifact.origin == Origin::kUpstream ? 1 : 0;
  progress.shared += artifact.origin == Origin::kShared ? 1 : 0;
  progress.compiled += artifact.origin == Origin::kCompiled ? 1 : 0;
  (artifact.origin == Origin::kCompiled ? progress.cpu_us : progress.cpu_saved_us) +=
      artifact.cpu_us;
  for (const StageCodeDigest& stage : artifact.code) {
    if (code.insert(stage.digest.id).second) {
      ++progress.code_distinct;
      progress.bytes_out += stage.digest.size;
    }
  }
  if (blobs.insert(artifact.metadata.id).second) {
    progress.bytes_out += artifact.metadata.size;
  }
  Outcome kept = outcome;
  kept.fresh.clear();
  results.push_back(std::make_shared<const BatchItem>(
      BatchItem{.program = request.programs[program].program.name,
                .options = programs[program].points->points[point].options,
                .outcome = std::move(kept)}));
}

void BatchRun::AddFailures(size_t program) {
  const MergedFailures failures = std::exchange(programs[program].failures, {});
  if (failures.empty()) {
    return;
  }
  const BatchPoints& points = *programs[program].points;
  const resolve::Program& declaring = programs[program].targets[0]->program();
  std::vector<std::string> declared;
  for (uint32_t option = 0; option < declaring.option_count(); ++option) {
    declared.emplace_back(declaring.Text(declaring.NameOf(ir::OptionId{option})));
  }
  auto item = std::make_shared<BatchItem>();
  item->program = request.programs[program].program.name;
  item->outcome.kind = OutcomeKind::kSourceError;
  item->served = failures.Failing(points);
  for (MergedFailure& failure : failures.Merge(points, declared)) {
    item->outcome.diagnostics.push_back(std::move(failure.diagnostic));
    item->examples.push_back(std::move(failure.example));
  }
  item->options =
      item->examples.empty() ? std::vector<resolve::OptionSetting>() : item->examples.front();
  Add({.kind = BatchEvent::Kind::kItem, .progress = {}, .item = std::move(item), .text = {}});
}

void BatchRun::AddFailedProgram(const std::string& name,
                                const std::vector<PlacedDiagnostic>& diagnostics) {
  ++progress.failed;
  ++progress.results_done;
  auto item = std::make_shared<BatchItem>();
  item->program = name;
  item->outcome = {.kind = OutcomeKind::kSourceError, .artifact = {}, .diagnostics = diagnostics};
  Add({.kind = BatchEvent::Kind::kItem, .progress = {}, .item = std::move(item), .text = {}});
}

}  // namespace kiln::build
