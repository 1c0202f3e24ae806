// SPDX-License-Identifier: MIT
#include "server/compile/batch/batch_run.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "server/compile/batch/batch_programs.h"

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
  const bool here = !restored && result_count == progress.results_done;
  return state == BatchState::kDone && right && stored && here && request.pin.empty() &&
         !request.quorum;
}

void BatchRun::Repeat(BatchRun& before) {
  for (const Results& found : before.results) {
    results.push_back({.known = found.any()});
  }
  result_count = before.result_count;
  kept = before.kept;
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
  held_results.Set(result_count);
  for (const BatchProgram& program : request.programs) {
    Add({.kind = BatchEvent::Kind::kProgramDone, .text = program.program.name});
  }
  Add({.kind = BatchEvent::Kind::kProgress, .progress = progress});
  Add({.kind = BatchEvent::Kind::kFinal, .progress = progress, .state = state});
}

// A program that is alone in its groups has results that no other can have: its table is taken over
// as it is, and only contents are counted one by one. Else each result is looked up, because the
// group has to know it, and the table of the earlier run must not change.
void BatchRun::Adopt(size_t program) {
  Program& of = programs[program];
  const ProgramResultsPtr former = std::exchange(of.former, nullptr);
  const std::vector<SignatureGroupPtr> groups = std::exchange(of.groups, {});
  const ResultTable& table = *former->table;
  if (std::ranges::all_of(groups, [](const auto& group) { return group->programs() == 1; })) {
    results[program].known = former->table;
    result_count += table.size();
    progress.results_done += table.size();
    progress.hit_memory += table.size();
    progress.cpu_saved_us += former->cpu_us;
    for (size_t row = 0; row < table.size(); ++row) {
      CountContent(table, row);
    }
  } else {
    of.groups = groups;
    const std::vector<NamedTarget>& targets = request.programs[program].targets;
    for (size_t row = 0; row < table.size(); ++row) {
      BatchItem item = table.At(row);
      item.outcome.artifact->origin = Origin::kMemory;
      const auto target =
          std::ranges::find(targets, item.outcome.artifact->target, &NamedTarget::name);
      AddResult({.program = program,
                 .target = static_cast<size_t>(target - targets.begin()),
                 .options = item.options,
                 .outcome = item.outcome},
                item.served);
    }
  }
  misses.results += former->results_upper;
  progress.variants_served += former->variants_served;
  ++progress.programs_done;
  kept.resize(programs.size());
  kept[program] = former;
  held_results.Set(result_count);
  Add({.kind = BatchEvent::Kind::kProgramDone, .text = request.programs[program].program.name});
}

// A program that shares a result with another one is left out: the result is among those of the
// first, and how many variants of each it serves nobody has counted.
void BatchRun::KeepResults() {
  if (restored || progress.unbuilt + progress.unstored != 0 || !progress.problem.empty()) {
    return;
  }
  kept.resize(programs.size());
  for (size_t i = 0; i < programs.size(); ++i) {
    const Program& program = programs[i];
    const bool whole = program.right && !program.stopped && !program.targets.empty() &&
                       program.points->exploration == nullptr &&
                       program.done == program.points->points.size();
    if (program.shares) {
      kept[i] = nullptr;
    } else if (kept[i] == nullptr && whole && results[i].own != nullptr) {
      const auto made = std::make_shared<ProgramResults>();
      made->table = results[i].own;
      for (const std::shared_ptr<const PreparedProgram>& target : program.targets) {
        made->entries.push_back(target->entry);
      }
      for (size_t row = 0; row < made->table->size(); ++row) {
        made->cpu_us += made->table->Row(row).cpu_us;
      }
      made->variants = program.points->variants;
      made->variants_served = program.variants_served;
      made->results_upper = ResultsUpper(program);
      kept[i] = made;
    }
  }
}

// What only work needs; results, failures and events stay for those who ask about the batch.
void BatchRun::DropWork() {
  code = {};
  blobs = {};
  for (Program& program : programs) {
    program = {.targets = {}, .points = std::make_shared<BatchPoints>()};
  }
}

BatchResults BatchRun::Told() {
  BatchResults told;
  for (const Results& found : results) {
    if (const ResultTablePtr table = found.any(); table != nullptr) {
      told.Add(table, found.own == nullptr);
    }
  }
  return told;
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
          .state = LastingState(),
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

// Requires: the lock of the run. Nobody who waits for `idle` may free the run before it is let go.
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

// A callback runs under the lock of the run: it may post a wake-up and must not call the batch.
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
    const auto some = std::make_shared<BatchPoints>();
    for (size_t i = 0; i < taken.count; ++i) {
      some->points.Add(program.points->points.At(program.next + i));
    }
    taken.points = some;
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
    const BatchPoint point{.options = of.points->exploration->SettingsOf(*node), .served = 0};
    points->points.Add(point);
    of.points->points.Add(point);
    taken.nodes.push_back(std::move(*node));
  }
  if (taken.nodes.empty()) {
    return std::nullopt;
  }
  taken.count = taken.nodes.size();
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
  of.points->points.SetServed(point, variants);
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

void BatchRun::Note(const BuiltPoint& built) {
  const size_t program = built.program;
  const bool wrong = built.outcome.kind != OutcomeKind::kOk;
  Count(built);
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
  held_results.Set(result_count);
  if (held_results.IsTooMuch() && !progress.over_budget) {
    Add({.kind = BatchEvent::Kind::kMessage,
         .text = "the batches of " + FirstStarter() +
                 " hold as many results as they may; start it again when some are forgotten, or in "
                 "several batches"});
    progress.over_budget = true;
  }
  if (result_count > kMaxBatchResults && !progress.over_budget) {
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
    variants += program.points->points.ServedBy(taken.base + taken.first + i);
  }
  program.variants_served += variants;
  progress.variants_served += variants;
  if (program.done == program.points->points.size() && !MayHaveMore(program)) {
    ++progress.programs_done;
    program.groups.clear();
    if (const Results& of = results[taken.program]; of.own != nullptr) {
      of.own->Shrink();
    }
    AddFailures(taken.program);
    Add({.kind = BatchEvent::Kind::kProgramDone,
         .text = request.programs[taken.program].program.name});
  }
}

void BatchRun::Count(const BuiltPoint& built) {
  const Outcome& outcome = built.outcome;
  Program& program = programs[built.program];
  if (outcome.kind != OutcomeKind::kOk) {
    CountFailure(outcome, request.retry_failed, progress);
    program.failures.Add(built.point, outcome.diagnostics);
    return;
  }
  AddResult(built, program.points->points.ServedBy(built.point));
}

void BatchRun::AddResult(const BuiltPoint& built, uint64_t variants) {
  const Artifact& artifact = *built.outcome.artifact;
  std::shared_ptr<ResultTable>& table = results[built.program].own;
  if (table == nullptr) {
    table = std::make_shared<ResultTable>(request.programs[built.program].program.name);
  }
  if (!AddSignature(built, artifact.signature, variants)) {
    return;
  }
  ++result_count;
  ++progress.results_done;
  ++OriginCount(artifact.origin, progress);
  (artifact.origin == Origin::kCompiled ? progress.cpu_us : progress.cpu_saved_us) +=
      artifact.cpu_us;
  table->Add(built.options, built.outcome, variants);
  CountContent(*table, table->size() - 1);
  if (artifact.origin == Origin::kCompiled) {
    AddSlow(built);
  }
}

// One result for each signature: another point that comes to it only adds to what it serves.
bool BatchRun::AddSignature(const BuiltPoint& built, const Hash128& signature, uint64_t variants) {
  Program& program = programs[built.program];
  const SignatureGroup::Place next{
      .program = static_cast<uint32_t>(built.program),
      .row = static_cast<uint32_t>(results[built.program].own->size())};
  const SignatureGroup::Member known = program.groups[built.target]->FindOrAdd(signature, next);
  if (known.is_new) {
    return true;
  }
  results[known.place.program].own->AddServed(known.place.row, variants);
  if (known.place.program != built.program) {
    program.shares = true;
    programs[known.place.program].shares = true;
  }
  return false;
}

void BatchRun::CountContent(const ResultTable& table, size_t row) {
  const Outcome& head = table.HeadOf(row);
  for (const Digest& digest : table.CodeOf(row)) {
    if (code.Insert(digest.id, true).second) {
      ++progress.code_distinct;
      progress.validated += head.validated ? 1 : 0;
      progress.optimised += head.optimised ? 1 : 0;
      progress.bytes_out += digest.size;
    }
  }
  const Digest& metadata = table.Row(row).metadata;
  if (blobs.Insert(metadata.id, true).second) {
    progress.bytes_out += metadata.size;
  }
}

void BatchRun::AddSlow(const BuiltPoint& built) {
  std::vector<BatchProgress::Slow>& slowest = progress.slowest;
  const uint64_t cpu_us = built.outcome.artifact->cpu_us;
  if (slowest.size() == kSlowest && slowest.back().cpu_us >= cpu_us) {
    return;
  }
  const auto at = std::ranges::find_if(
      slowest, [&](const BatchProgress::Slow& other) { return other.cpu_us < cpu_us; });
  slowest.insert(at, {.program = request.programs[built.program].program.name,
                      .options = {built.options.begin(), built.options.end()},
                      .cpu_us = cpu_us});
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
