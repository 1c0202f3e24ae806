// SPDX-License-Identifier: MIT
#include "server/build/batch_run.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kiln::build {
namespace {

constexpr size_t kPointsAtOnce = 16;
constexpr size_t kKeptEvents = 4096;
constexpr size_t kSlowest = 3;

}  // namespace

bool BatchRun::Over() {
  return state == BatchState::kDone || state == BatchState::kFailed ||
         state == BatchState::kCancelled;
}

BatchSummary BatchRun::Summary() {
  return {.id = id,
          .project = request.project,
          .state = state,
          .progress = progress,
          .started_ms = started_ms,
          .updated_ms = std::max(updated_ms, started_ms)};
}

void BatchRun::Work(Duration now) {
  progress.elapsed += std::max(now - worked_until, Duration::zero());
  worked_until = now;
}

void BatchRun::Leave() {
  --active;
  idle.NotifyAll();
}

BatchState BatchRun::End(bool stopped) {
  if (progress.over_budget || on_error || broken || progress.wrong_space) {
    return BatchState::kFailed;
  }
  const bool whole = scanned && current >= programs.size();
  return stopped || !whole ? BatchState::kCancelled : BatchState::kDone;
}

void BatchRun::FindFamilies() {
  std::map<std::string, std::vector<size_t>> members;
  for (size_t i = 0; i < programs.size(); ++i) {
    const bool usable = !programs[i].targets.empty() && programs[i].targets[0]->ok();
    if (usable && !request.programs[i].family.empty()) {
      members[request.programs[i].family].push_back(i);
    }
  }
  for (const auto& [family, indexes] : members) {
    std::vector<const PreparedProgram*> prepared;
    for (const size_t i : indexes) {
      prepared.push_back(programs[i].targets[0].get());
    }
    const auto rule = std::make_shared<FamilyRule>(family, std::move(prepared));
    for (size_t member = 0; member < indexes.size(); ++member) {
      programs[indexes[member]].family = rule;
      programs[indexes[member]].family_member = member;
    }
  }
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
    on_error = true;
    stop.request_stop();
  }
  if ((request.budget.cpu_us != 0 && progress.cpu_us >= request.budget.cpu_us) ||
      (request.budget.output != 0 && progress.bytes_out >= request.budget.output)) {
    if (!progress.over_budget) {
      Add({.kind = BatchEvent::Kind::kMessage,
           .text =
               "the budget of the batch is used up; start it again with a larger one to go on"});
    }
    progress.over_budget = true;
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
    progress.failed += outcome.kind == OutcomeKind::kSourceError ? 1 : 0;
    progress.limited += outcome.kind == OutcomeKind::kLimit ? 1 : 0;
    progress.poisoned += outcome.kind == OutcomeKind::kPoison ? 1 : 0;
    progress.hit_local += outcome.from_negative_cache ? 1 : 0;
    progress.compiled += outcome.from_negative_cache ? 0 : 1;
    progress.retried += request.retry_failed && !outcome.from_negative_cache ? 1 : 0;
    ++progress.results_done;
    programs[program].failures.Add(point, outcome.diagnostics);
    return;
  }
  const Artifact& artifact = *outcome.artifact;
  const BatchPoint& built = programs[program].points->points[point];
  const auto [known, is_new] = signatures.emplace(artifact.signature, results.size());
  if (!is_new) {
    served[known->second] += built.served;
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
      progress.validated += outcome.validated ? 1 : 0;
      progress.optimised += outcome.optimised ? 1 : 0;
      progress.bytes_out += stage.digest.size;
    }
  }
  if (blobs.insert(artifact.metadata.id).second) {
    progress.bytes_out += artifact.metadata.size;
  }
  Outcome kept = outcome;
  kept.fresh.clear();
  auto item =
      std::make_shared<const BatchItem>(BatchItem{.program = request.programs[program].program.name,
                                                  .options = built.options,
                                                  .outcome = std::move(kept),
                                                  .served = built.served,
                                                  .examples = {}});
  if (artifact.origin == Origin::kCompiled) {
    AddSlow(*item);
  }
  results.push_back(std::move(item));
  served.push_back(built.served);
}

void BatchRun::AddSlow(const BatchItem& item) {
  std::vector<BatchProgress::Slow>& slowest = progress.slowest;
  const uint64_t cpu_us = item.outcome.artifact->cpu_us;
  if (slowest.size() == kSlowest && slowest.back().cpu_us >= cpu_us) {
    return;
  }
  const auto at = std::ranges::find_if(
      slowest, [&](const BatchProgress::Slow& other) { return other.cpu_us < cpu_us; });
  slowest.insert(at, {.program = item.program, .options = item.options, .cpu_us = cpu_us});
  slowest.resize(std::min(slowest.size(), kSlowest));
}

void BatchRun::AddItem(std::shared_ptr<const BatchItem> item) {
  failures.push_back(item);
  Add({.kind = BatchEvent::Kind::kItem, .progress = {}, .item = std::move(item), .text = {}});
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
  AddItem(std::move(item));
}

void BatchRun::AddFailedProgram(const std::string& name,
                                const std::vector<PlacedDiagnostic>& diagnostics) {
  ++progress.failed;
  ++progress.compiled;  // somebody found out
  ++progress.results_done;
  auto item = std::make_shared<BatchItem>();
  item->program = name;
  item->outcome = {.kind = OutcomeKind::kSourceError, .artifact = {}, .diagnostics = diagnostics};
  AddItem(std::move(item));
}

}  // namespace kiln::build
