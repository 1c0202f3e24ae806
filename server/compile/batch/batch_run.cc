// SPDX-License-Identifier: MIT
#include "server/compile/batch/batch_run.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/check.h"

namespace kiln::compile {
namespace {

constexpr size_t kPointsAtOnce = 16;
constexpr size_t kNodesAtOnce = 4;
constexpr size_t kKeptEvents = 4096;
constexpr size_t kSlowest = 3;
constexpr size_t kMostStarters = 64;

void CountFailure(const Outcome& outcome, bool retry_failed, BatchProgress& progress) {
  progress.failed += outcome.kind == OutcomeKind::kSourceError ? 1 : 0;
  progress.limited += outcome.kind == OutcomeKind::kLimit ? 1 : 0;
  progress.poisoned += outcome.kind == OutcomeKind::kPoison ? 1 : 0;
  progress.hit_local += outcome.from_negative_cache ? 1 : 0;
  progress.compiled += outcome.from_negative_cache ? 0 : 1;
  progress.retried += retry_failed && !outcome.from_negative_cache ? 1 : 0;
  ++progress.results_done;
}

uint64_t& OriginCount(Origin origin, BatchProgress& progress) {
  switch (origin) {
    case Origin::kCompiled:
      return progress.compiled;
    case Origin::kMemory:
      return progress.hit_memory;
    case Origin::kLocal:
      return progress.hit_local;
    case Origin::kUpstream:
      return progress.hit_upstream;
    case Origin::kShared:
      return progress.shared;
  }
  KILN_UNREACHABLE();
}

}  // namespace

bool BatchRun::Over() {
  return state == BatchState::kDone || state == BatchState::kFailed ||
         state == BatchState::kCancelled;
}

bool BatchRun::IsRepeatable() {
  const bool right = progress.failed + progress.limited + progress.poisoned == 0;
  const bool stored = progress.unbuilt + progress.unstored == 0 && progress.problem.empty();
  const bool here = !restored && results.size() == progress.results_done;
  return state == BatchState::kDone && right && stored && here && request.pin.empty() &&
         !request.quorum;
}

void BatchRun::Repeat(BatchRun& before) {
  results = before.results;
  served = before.served;
  kept = before.kept;
  adopted.assign(results.size(), true);
  losses = before.losses;
  scanning = scanned = true;
  state = BatchState::kDone;
  const BatchProgress& found = before.progress;
  progress = {.variants_total = found.variants_total,
              .variants_served = found.variants_served,
              .results_done = found.results_done,
              .results_upper = found.results_upper,
              .hit_memory = found.results_done,
              .validated = found.validated,
              .optimised = found.optimised,
              .code_distinct = found.code_distinct,
              .bytes_out = found.bytes_out,
              .cpu_saved_us = found.cpu_us + found.cpu_saved_us,
              .programs_done = found.programs_done,
              .programs = found.programs,
              .program = found.program,
              .stage = "store"};
  misses.results = before.misses.results;
  held_results.Set(results.size());
  for (const BatchProgram& program : request.programs) {
    Add({.kind = BatchEvent::Kind::kProgramDone, .text = program.program.name});
  }
  Add({.kind = BatchEvent::Kind::kProgress, .progress = progress});
  Add({.kind = BatchEvent::Kind::kFinal, .progress = progress, .state = state});
}

void BatchRun::Adopt(size_t program) {
  const ProgramResultsPtr former = std::exchange(programs[program].former, nullptr);
  for (size_t i = 0; i < former->items.size(); ++i) {
    const Artifact& artifact = *former->items[i]->outcome.artifact;
    if (!AddSignature(program, artifact.signature, former->served[i])) {
      continue;
    }
    ++progress.results_done;
    ++progress.hit_memory;
    progress.cpu_saved_us += artifact.cpu_us;
    CountContent(former->items[i]->outcome);
    results.push_back(former->items[i]);
    adopted.push_back(true);
  }
  misses.results += former->results_upper;
  progress.variants_served += former->variants_served;
  ++progress.programs_done;
  kept.resize(programs.size());
  kept[program] = former;
  held_results.Set(results.size());
  Add({.kind = BatchEvent::Kind::kProgramDone, .text = request.programs[program].program.name});
}

// A program that shares a result with another one is left out: the result is among those of the
// first, and how many variants of each it serves nobody has counted.
void BatchRun::KeepResults() {
  if (restored || progress.unbuilt + progress.unstored != 0 || !progress.problem.empty()) {
    return;
  }
  kept.resize(programs.size());
  std::vector<std::shared_ptr<ProgramResults>> made(programs.size());
  for (size_t i = 0; i < programs.size(); ++i) {
    const Program& program = programs[i];
    const bool whole = program.right && !program.stopped && !program.targets.empty() &&
                       program.points->exploration == nullptr &&
                       program.done == program.points->points.size();
    if (program.shares) {
      kept[i] = nullptr;
    } else if (kept[i] == nullptr && whole) {
      made[i] = std::make_shared<ProgramResults>();
      made[i]->variants = program.points->variants;
      made[i]->variants_served = program.variants_served;
      made[i]->results_upper = ResultsUpper(program);
      kept[i] = made[i];
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (ProgramResults* const of = made[owners[i]].get(); of != nullptr) {
      of->items.push_back(results[i]);
      of->served.push_back(served[i]);
    }
  }
}

void BatchRun::DropWork() {
  signatures = {};
  code = {};
  blobs = {};
  owners = {};
  for (Program& program : programs) {
    program = {.targets = {}, .points = std::make_shared<BatchPoints>()};
  }
}

const BatchResults& BatchRun::Told() {
  for (size_t i = 0; i < adopted.size(); ++i) {
    if (adopted[i] && results[i]->outcome.artifact->origin != Origin::kMemory) {
      BatchItem told = *results[i];
      told.outcome.artifact->origin = Origin::kMemory;
      results[i] = std::make_shared<const BatchItem>(std::move(told));
    }
  }
  adopted = {};
  return results;
}

// Beyond the bound nobody is noted any more: who is not may not pause or cancel, which is the safe
// side.
bool BatchRun::Join(const std::string& starter) {
  if (starters.size() >= kMostStarters || std::ranges::find(starters, starter) != starters.end()) {
    return false;
  }
  starters.push_back(starter);
  return true;
}

bool BatchRun::Pause(const std::string& by) {
  if (Over() || finishing || paused) {
    return false;
  }
  paused = true;
  paused_by = by;
  state = BatchState::kPaused;
  AddPaused();
  Add({.kind = BatchEvent::Kind::kProgress, .progress = progress});
  return true;
}

void BatchRun::AddPaused() {
  Add({.kind = BatchEvent::Kind::kMessage,
       .text = "paused by " + paused_by + "; it goes on when it is started again, or by " +
               "'kiln batch resume " + id.hex().substr(0, 8) + "'"});
}

bool BatchRun::Unpause(const std::string& by, Duration now) {
  if (Over() || !paused) {
    return false;
  }
  paused = false;
  paused_by.clear();
  Add({.kind = BatchEvent::Kind::kMessage, .text = "resumed by " + by});
  worked_until = now;
  state = scanned ? BatchState::kRunning : BatchState::kQueued;
  return true;
}

BatchSummary BatchRun::Summary() {
  return {.id = id,
          .project = request.project,
          .state = state,
          .progress = progress,
          .owner = owner,
          .paused_by = state == BatchState::kPaused ? paused_by : std::string(),
          .started_ms = started_ms,
          .updated_ms = std::max(updated_ms, started_ms),
          .waits = waits};
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

namespace {

bool MayHaveMore(const BatchRun::Program& program) {
  Exploration* const exploration = program.points->exploration.get();
  return !program.stopped && exploration != nullptr && !exploration->Done();
}

}  // namespace

void BatchRun::LeaveProgram(std::optional<size_t>& own) {
  if (own.has_value() && programs[*own].takers != 0) {  // none are left of a run that is over
    --programs[*own].takers;
  }
  own.reset();
}

std::optional<TakenPoints> BatchRun::Take(std::optional<size_t>& own) {
  if (own.has_value()) {
    if (std::optional<TakenPoints> taken = TakeFrom(*own); taken.has_value()) {
      return taken;
    }
    LeaveProgram(own);
  }
  for (const bool free_only : {true, false}) {
    for (size_t i = current; i < programs.size(); ++i) {
      Program& program = programs[i];
      if (program.former != nullptr) {
        Adopt(i);
      }
      if (free_only && program.takers != 0) {
        continue;
      }
      if (std::optional<TakenPoints> taken = TakeFrom(i); taken.has_value()) {
        own = i;
        ++program.takers;
        return taken;
      }
      current += i == current && !MayHaveMore(program) ? 1 : 0;
    }
  }
  return std::nullopt;
}

std::optional<TakenPoints> BatchRun::TakeFrom(size_t i) {
  Program& program = programs[i];
  const size_t left = program.stopped ? 0 : program.points->points.size() - program.next;
  if (left == 0) {
    return TakeNodes(i);
  }
  TakenPoints taken{.program = i,
                    .targets = program.targets,
                    .points = program.points,
                    .first = program.next,
                    .count = std::min(left, kPointsAtOnce)};
  if (program.points->exploration != nullptr) {  // the list grows while the points are built
    const auto from = program.points->points.begin() + static_cast<ptrdiff_t>(program.next);
    taken.points = std::make_shared<const BatchPoints>(
        BatchPoints{.points = {from, from + static_cast<ptrdiff_t>(taken.count)}});
    taken.base = std::exchange(taken.first, 0);
  }
  program.next += taken.count;
  progress.program = request.programs[i].program.name;
  return taken;
}

std::optional<TakenPoints> BatchRun::TakeNodes(size_t program) {
  Program& of = programs[program];
  if (!MayHaveMore(of)) {
    return std::nullopt;
  }
  const auto points = std::make_shared<BatchPoints>();
  TakenPoints taken{.program = program,
                    .targets = of.targets,
                    .points = points,
                    .base = of.points->points.size()};
  while (taken.nodes.size() < kNodesAtOnce) {
    std::optional<Exploration::Node> node = of.points->exploration->Take();
    if (!node.has_value()) {
      break;
    }
    points->points.push_back({.options = of.points->exploration->SettingsOf(*node), .served = 0});
    taken.nodes.push_back(std::move(*node));
  }
  if (taken.nodes.empty()) {
    return std::nullopt;
  }
  taken.count = taken.nodes.size();
  of.points->points.insert(of.points->points.end(), points->points.begin(), points->points.end());
  of.next = of.points->points.size();
  progress.program = request.programs[program].program.name;
  return taken;
}

bool BatchRun::Explores() {
  return scanned && std::any_of(programs.begin() +
                                    static_cast<std::ptrdiff_t>(std::min(current, programs.size())),
                                programs.end(), MayHaveMore);
}

void BatchRun::NoteExpanded(size_t program, size_t point, uint64_t variants) {
  const Program& of = programs[program];
  of.points->points[point].served = variants;
  if (of.points->exploration->Over() && !progress.over_budget) {
    progress.over_budget = true;
    Add({.kind = BatchEvent::Kind::kMessage,
         .text = request.programs[program].program.name + ": " +
                 of.points->exploration->TooMany().context});
  }
}

void BatchRun::NoteUnbuilt(size_t program, const std::string& why) {
  programs[program].right = false;
  NoteUnbuilt(why);
}

void BatchRun::Note(size_t program, size_t point, std::shared_ptr<const BatchItem> item) {
  const bool wrong = item->outcome.kind != OutcomeKind::kOk;
  Count(program, point, std::move(item));
  programs[program].right &= !wrong;
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
  held_results.Set(results.size());
  if (held_results.IsTooMuch() && !progress.over_budget) {
    Add({.kind = BatchEvent::Kind::kMessage,
         .text = "the batches of " + FirstStarter() +
                 " hold as many results as they may; start it again when some are forgotten, or in "
                 "several batches"});
    progress.over_budget = true;
  }
  if (results.size() > kMaxBatchResults && !progress.over_budget) {
    Add({.kind = BatchEvent::Kind::kMessage,
         .text = "the batch has more than " + std::to_string(kMaxBatchResults) +
                 " results; build its programs in several batches"});
    progress.over_budget = true;
  }
  programs[program].stopped |= wrong && request.on_error == OnError::kStopProgram;
}

void BatchRun::NoteUnbuilt(const std::string& why) {
  ++progress.unbuilt;
  progress.problem = progress.problem.empty() ? why : progress.problem;
}

void BatchRun::NoteUnstored(uint64_t results, const Error& why) {
  const std::string_view advice = why.code != ErrorCode::kFull ? ""
                                  : why.reason == "CACHE_FULL"
                                      ? "; raise cache.max_size, or wait until leases end"
                                      : "; free space where the cache is, or lower cache.max_size, "
                                        "and build again";
  progress.unstored += results;
  progress.wants_kept = request.quorum || !request.pin.empty();
  progress.problem =
      progress.problem.empty() ? why.context + std::string(advice) : progress.problem;
}

void BatchRun::Finish(const TakenPoints& taken) {
  Program& program = programs[taken.program];
  program.done += taken.count;
  uint64_t variants = 0;
  for (size_t i = 0; i < taken.count; ++i) {
    variants += program.points->points[taken.base + taken.first + i].served;
  }
  program.variants_served += variants;
  progress.variants_served += variants;
  if (program.done == program.points->points.size() && !MayHaveMore(program)) {
    ++progress.programs_done;
    AddFailures(taken.program);
    Add({.kind = BatchEvent::Kind::kProgramDone,
         .text = request.programs[taken.program].program.name});
  }
}

void BatchRun::Count(size_t program, size_t point, std::shared_ptr<const BatchItem> item) {
  const Outcome& outcome = item->outcome;
  if (outcome.kind != OutcomeKind::kOk) {
    CountFailure(outcome, request.retry_failed, progress);
    programs[program].failures.Add(point, outcome.diagnostics);
    return;
  }
  const Artifact& artifact = *outcome.artifact;
  if (!AddSignature(program, artifact.signature, programs[program].points->points[point].served)) {
    return;
  }
  ++progress.results_done;
  ++OriginCount(artifact.origin, progress);
  (artifact.origin == Origin::kCompiled ? progress.cpu_us : progress.cpu_saved_us) +=
      artifact.cpu_us;
  CountContent(outcome);
  if (artifact.origin == Origin::kCompiled) {
    AddSlow(*item);
  }
  results.push_back(std::move(item));
  adopted.push_back(false);
}

bool BatchRun::AddSignature(size_t program, const Hash128& signature, uint64_t variants) {
  const auto [known, is_new] = signatures.emplace(signature, results.size());
  if (is_new) {
    served.push_back(variants);
    owners.push_back(static_cast<uint32_t>(program));
    return true;
  }
  served[known->second] += variants;
  if (owners[known->second] != program) {
    programs[program].shares = true;
    programs[owners[known->second]].shares = true;
  }
  return false;
}

// Modules and metadata that no result before had.
void BatchRun::CountContent(const Outcome& outcome) {
  for (const StageCodeDigest& stage : outcome.artifact->code) {
    if (code.insert(stage.digest.id).second) {
      ++progress.code_distinct;
      progress.validated += outcome.validated ? 1 : 0;
      progress.optimised += outcome.optimised ? 1 : 0;
      progress.bytes_out += stage.digest.size;
    }
  }
  if (blobs.insert(outcome.artifact->metadata.id).second) {
    progress.bytes_out += outcome.artifact->metadata.size;
  }
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

void BatchRun::NoteScanned(const std::string& name, const Result<void>& scanned,
                           const Program& program) {
  if (!scanned.ok()) {
    Add({.kind = BatchEvent::Kind::kMessage, .text = name + ": " + scanned.error().context});
    progress.over_budget |= scanned.error().code == ErrorCode::kResourceExhausted;
    progress.wrong_space |= scanned.error().code == ErrorCode::kInvalidArgument;
    NoteUnbuilt(name + ": " + scanned.error().context);
  } else if (!program.targets.empty() && !program.targets[0]->ok()) {
    AddFailedProgram(name, program.targets[0]->diagnostics);
  }
}

void BatchRun::Refuse(const Error& error) {
  broken = true;
  ++progress.poisoned;
  Add({.kind = BatchEvent::Kind::kMessage, .text = error.context});
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

}  // namespace kiln::compile
