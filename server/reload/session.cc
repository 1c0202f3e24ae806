// SPDX-License-Identifier: MIT
#include "server/reload/session.h"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace kiln::reload {
namespace {

constexpr uint64_t kMaxPrograms = 20'000;  // of a manifest (spec/daemon 10)

bool Same(const DiagnosticsPtr& a, const DiagnosticsPtr& b) {
  const size_t size_a = a == nullptr ? 0 : a->size();
  const size_t size_b = b == nullptr ? 0 : b->size();
  return size_a == size_b &&
         (size_a == 0 || std::ranges::equal(*a, *b, {}, &compile::MergedFailure::diagnostic,
                                            &compile::MergedFailure::diagnostic));
}

bool HasErrors(const DiagnosticsPtr& all) {
  return all != nullptr && std::ranges::any_of(*all, [](const compile::MergedFailure& one) {
           return one.diagnostic.severity == Severity::kError;
         });
}

std::vector<std::string> NamesOf(const std::vector<compile::NamedTarget>& targets) {
  std::vector<std::string> names;
  for (const compile::NamedTarget& target : targets) {
    names.push_back(target.name);
  }
  return names;
}

// The sources that are new or have other content.
std::vector<std::string> ChangedPaths(const std::vector<compile::Source>& before,
                                      const std::vector<compile::Source>& after) {
  std::map<std::string_view, const Digest*> known;
  for (const compile::Source& source : before) {
    known.emplace(source.path, &source.digest);
  }
  std::vector<std::string> changed;
  for (const compile::Source& source : after) {
    const auto found = known.find(source.path);
    if (found == known.end() || *found->second != source.digest) {
      changed.push_back(source.path);
    }
  }
  return changed;
}

bool SameContent(const WatchedProgram& a, const WatchedProgram& b) {
  const auto& before = a.program.program.sources;
  const auto& after = b.program.program.sources;
  return a.shape == b.shape && before.size() == after.size() &&
         a.program.program.hlsl == b.program.program.hlsl && ChangedPaths(before, after).empty();
}

size_t Row(jobs::Lane lane) { return static_cast<size_t>(lane); }

}  // namespace

// ---- What comes from the source client ----------------------------------------------------------

Result<void> Session::Push(PushedChange change) {
  std::optional<SourceIndex> sources;  // of new programs
  if (change.programs.has_value()) {
    if (change.programs->size() > kMaxPrograms) {
      return AboveLimit("programs per manifest", kMaxPrograms, change.programs->size());
    }
    sources.emplace(*change.programs);
  }
  KILN_TRY_VOID(
      (sources.has_value() ? *sources : sources_).CheckSize(change.changed, change.removed));
  std::set<std::string> paths;     // that really changed
  std::set<std::string> affected;  // programs
  if (!change.programs.has_value()) {
    KILN_TRY_VOID(TakeIncluded(change, affected));
  }
  if (change.programs.has_value()) {
    Replace(std::move(*change.programs), paths, affected);
    sources_ = *std::move(sources);
  }
  for (const compile::Source& source : change.changed) {
    paths.insert(source.path);
  }
  paths.insert(change.removed.begin(), change.removed.end());
  Take(change, affected);
  const bool says_something = !change.changed.empty() || !change.removed.empty();
  if (says_something || !affected.empty()) {
    NextGeneration(paths, affected);
  }
  return {};
}

// Sources of programs that are there. What is gone goes last.
void Session::Take(const PushedChange& change, std::set<std::string>& affected) {
  for (const compile::Source& changed : change.changed) {
    for (const SourceIndex::Use& use : sources_.UsesOf(changed.path)) {
      Program& program = programs_.find(use.program)->second;
      compile::Source& source = program.is.program.program.sources[use.at];
      if (changed.digest != source.digest || program.removed.erase(changed.path) != 0) {
        source = changed;
        program.removed.erase(changed.path);
        affected.insert(use.program);
      }
    }
    sources_.Resize(changed.path, changed.digest.size);
  }
  for (const std::string& path : change.removed) {
    for (const SourceIndex::Use& use : sources_.UsesOf(path)) {
      if (programs_.find(use.program)->second.removed.insert(path).second) {
        affected.insert(use.program);
      }
    }
  }
}

// Files to include. All lists are made before the first is replaced, so that a push that is refused
// has changed nothing. A program that asked for none of the files has the new list, too, for the
// next time that it is read.
Result<void> Session::TakeIncluded(const PushedChange& change, std::set<std::string>& affected) {
  ListChanges lists(change);
  std::vector<std::pair<Program*, const ListChanges::ListChange*>> changed;
  for (auto& [name, program] : programs_) {
    if (MayInclude(program.is.program.program)) {
      KILN_TRY(const ListChanges::ListChange* const list,
               lists.Of(program.is.program.program.hlsl.files));
      changed.emplace_back(&program, list);
    }
  }
  for (const auto& [program, list] : changed) {
    compile::HlslInputs& inputs = program->is.program.program.hlsl;
    inputs.files = list->files;
    inputs.list = list->files->digest();
    if (!list->paths.empty() && LooksAt(program->probed, list->paths)) {
      affected.insert(program->is.program.program.name);
    }
  }
  return {};
}

// Programs of the same name go on with what is known of them.
void Session::Replace(std::vector<WatchedProgram> programs, std::set<std::string>& paths,
                      std::set<std::string>& affected) {
  std::map<std::string, Program> now;
  for (WatchedProgram& program : programs) {
    const std::string name = program.program.program.name;
    const auto old = programs_.find(name);
    if (old == programs_.end()) {
      affected.insert(name);
      for (const compile::Source& source : program.program.program.sources) {
        paths.insert(source.path);
      }
      now[name].is = std::move(program);
      continue;
    }
    Program& known = now[name] = std::move(old->second);
    programs_.erase(old);
    const std::vector<compile::Source>& before = known.is.program.program.sources;
    const std::vector<compile::Source>& after = program.program.program.sources;
    for (const std::string& path : ChangedPaths(before, after)) {
      paths.insert(path);
      affected.insert(name);
    }
    const FileList none;
    const auto list_of = [&](const WatchedProgram& of) -> const FileList& {
      return of.program.program.hlsl.files != nullptr ? *of.program.program.hlsl.files : none;
    };
    const std::vector<std::string> included = DifferingPaths(list_of(known.is), list_of(program));
    if (program.shape != known.is.shape || before.size() != after.size() ||
        !known.removed.empty() || (!included.empty() && LooksAt(known.probed, included))) {
      affected.insert(name);
    }
    if (program.shape != known.is.shape) {
      known.entries.clear();  // other variants, or other targets
    }
    known.removed.clear();
    known.is = std::move(program);
  }
  for (auto& [name, gone] : programs_) {
    DropWork(gone);
  }
  programs_ = std::move(now);
}

// An edit begins a generation: everybody hears which programs it touches, work for those is thrown
// away and begun anew, and when the last of it is done the generation has settled. An edit while
// work is under way does not wait: results of older sources would be replaced at once.
void Session::NextGeneration(const std::set<std::string>& paths,
                             const std::set<std::string>& affected) {
  ++generation_;
  began_ = clock_.Monotonic();
  counts_ = {};
  open_ = true;
  for (auto& [id, subscriber] : subscribers_) {
    SourcesChanged changed{.generation = generation_, .paths = {paths.begin(), paths.end()}};
    for (const std::string& name : affected) {
      if (subscriber.wish.role == Role::kSource || subscriber.wish.Hears(name)) {
        changed.programs.push_back(name);
      }
    }
    Tell(subscriber, std::move(changed));
  }
  for (const std::string& name : affected) {
    Renew(name, programs_.find(name)->second);
  }
  SettleIfDone();
}

// ---- Work ---------------------------------------------------------------------------------------

std::vector<compile::NamedTarget> Session::WantedTargets(const std::string& name,
                                                         const Program& program) const {
  std::vector<compile::NamedTarget> wanted;
  for (const compile::NamedTarget& target : program.is.program.targets) {
    if (std::ranges::any_of(subscribers_, [&](const auto& row) {
          return row.second.wish.Hears(name) && row.second.wish.HearsTarget(target.name);
        })) {
      wanted.push_back(target);
    }
  }
  return wanted;
}

std::vector<Interest> Session::InterestIn(const std::string& name) const {
  std::vector<Interest> all;
  std::set<std::string_view> seen;  // variants
  for (const auto& [id, subscriber] : subscribers_) {
    for (const Interest& one : subscriber.wish.InterestIn(name)) {
      if (subscriber.wish.Hears(name) && seen.insert(one.variant).second) {
        all.push_back(one);
      }
    }
  }
  return all;
}

void Session::DropWork(Program& program) {
  if (program.work != nullptr) {
    program.work->Cancel();
    program.work = nullptr;
    --working_;
  }
}

void Session::Stop() {
  for (auto& [name, program] : programs_) {
    DropWork(program);
  }
}

void Session::Rest() {
  for (auto& [name, program] : programs_) {
    if (program.work != nullptr) {
      DropWork(program);
      program.stale = true;
    }
  }
}

// The program is looked at now, whatever work for it was under way. Programs that somebody has on
// screen go to the head of the line. Targets that nobody listens to are not built; the program
// stays stale until somebody does.
void Session::Renew(const std::string& name, Program& program) {
  DropWork(program);
  program.said = nullptr;
  program.sent = false;
  program.probed = nullptr;
  if (!program.removed.empty()) {
    ++counts_.failed;
    TellHearers(name, nullptr,
                Problem{.text = "'" + *program.removed.begin() + "' of program '" + name +
                                "' is gone; its last good artifacts stay",
                        .code = "SOURCE_MISSING"});
    return;
  }
  std::vector<compile::NamedTarget> targets = WantedTargets(name, program);
  program.stale = targets.empty();
  if (program.stale) {
    return;
  }
  const std::vector<std::string> names = NamesOf(targets);
  const bool may_skip = names == program.targets && program.diagnostics == nullptr;
  program.targets = names;
  compile::BatchProgram request = program.is.program;
  request.targets = std::move(targets);
  std::vector<Interest> interest = InterestIn(name);
  std::deque<std::string>& queue = waiting_[Row(jobs::Lane::kInteractive)];
  interest.empty() ? queue.push_back(name) : queue.push_front(name);  // on screen first
  program.work = std::make_shared<ProgramWork>(
      WorkRequest{.whose = whose_,
                  .program = std::move(request),
                  .interest = std::move(interest),
                  .known_entries = may_skip ? program.entries : std::vector<Hash128>(),
                  .recover = program.last_good.empty()});
  program.taken = false;
  ++working_;
}

std::optional<Session::WorkItem> Session::Take(jobs::Lane lane) {
  std::deque<std::string>& queue = waiting_[Row(lane)];
  while (!queue.empty()) {
    const std::string name = std::move(queue.front());
    queue.pop_front();
    const auto found = programs_.find(name);
    if (found == programs_.end() || found->second.work == nullptr || found->second.taken ||
        found->second.work->in_background() != (lane == jobs::Lane::kBatch)) {
      continue;  // replaced since
    }
    found->second.taken = true;
    return WorkItem{.program = name, .work = found->second.work};
  }
  return std::nullopt;
}

Change Session::ChangeOf(const ArtifactState& before, const BuiltVariant& now) {
  if (before.artifact == nullptr) {
    return {.code = true, .settings = true, .layout = true};
  }
  const bool same_code =
      std::ranges::equal(before.artifact->code, now.artifact->code,
                         [](const compile::StageCodeDigest& a, const compile::StageCodeDigest& b) {
                           return a.stage == b.stage && a.digest == b.digest;
                         });
  return {.code = !same_code,
          .settings = before.state != now.state,
          .layout = before.artifact->layout_hash != now.artifact->layout_hash};
}

// Results of work that was replaced meanwhile are dropped: `work` is compared by identity, so
// nothing needs to be cancelled in time to be right. What is sent is the difference to the last
// good artifact of a variant; equal artifacts are silent.
bool Session::Absorb(const WorkItem& taken, StepResult result) {
  const auto found = programs_.find(taken.program);
  if (found == programs_.end() || found->second.work != taken.work) {
    return false;
  }
  Program& program = found->second;
  program.probed = result.probed != nullptr ? std::move(result.probed) : program.probed;
  counts_.compiled += result.compiled;
  counts_.shared += result.shared;
  counts_.failed += result.failed;
  for (BuiltVariant& built : result.built) {
    const std::string target = built.artifact->target;
    ArtifactState& last = program.last_good[{built.variant, target}];
    const Change change = ChangeOf(last, built);
    last = {.options = built.options, .artifact = built.artifact, .state = built.state};
    if (change.any()) {
      program.sent = true;
      counters_.AddArtifact(clock_.Monotonic() - began_);
      TellHearers(taken.program, &target,
                  NewArtifact{.generation = generation_,
                              .program = taken.program,
                              .variant = std::move(built.variant),
                              .options = std::move(built.options),
                              .artifact = std::move(built.artifact),
                              .change = change});
    }
  }
  if (!result.problem.empty()) {
    TellHearers(taken.program, nullptr,
                Problem{.text = taken.program + ": " + result.problem, .code = "NOT_BUILT"});
  }
  if (result.diagnostics != nullptr) {
    SendDiagnostics(taken.program, program, result.diagnostics);
  }
  return true;
}

// Errors are repeated in every generation that has them, other messages only when they are new.
void Session::SendDiagnostics(const std::string& name, Program& program,
                              const DiagnosticsPtr& all) {
  const bool done = program.work->phase() == ProgramWork::Phase::kDone;
  const bool again = program.said != nullptr && Same(program.said, all);
  const bool quiet = !HasErrors(all) && (Same(program.diagnostics, all) || !done);
  if (again || quiet) {
    return;
  }
  program.said = all;
  program.diagnostics = all->empty() ? nullptr : all;
  TellHearers(name, nullptr, Diagnostics{.generation = generation_, .program = name, .all = all});
}

void Session::Return(const WorkItem& taken) {
  const auto found = programs_.find(taken.program);
  if (found == programs_.end() || found->second.work != taken.work) {
    return;
  }
  found->second.taken = false;
  if (taken.work->phase() == ProgramWork::Phase::kDone) {
    Finish(taken.program, found->second);
    return;
  }
  waiting_[Row(taken.work->in_background() ? jobs::Lane::kBatch : jobs::Lane::kInteractive)]
      .push_back(taken.program);
}

void Session::Abandon(const WorkItem& taken) {
  const auto found = programs_.find(taken.program);
  if (found == programs_.end() || found->second.work != taken.work) {
    return;
  }
  ++counts_.failed;
  TellHearers(taken.program, nullptr,
              Problem{.text = taken.program + ": an internal error of kiln", .code = "BUG"});
  DropWork(found->second);
  SettleIfDone();
}

// A failed program keeps its last good artifacts, and forgets what its entries were, so that the
// next generation looks at all variants again. A program that is right drops variants that it has
// no longer, and its entries become those with which the next edit may be recognised as no change.
void Session::Finish(const std::string& name, Program& program) {
  const std::shared_ptr<ProgramWork> work = program.work;
  DropWork(program);
  const bool same_entries = !work->failed() && work->entries() == program.entries;
  if (!work->failed()) {
    if (!program.sent) {
      const Reason reason = same_entries            ? Reason::kIrIdentical
                            : work->not_reachable() ? Reason::kNotReachable
                                                    : Reason::kCodeIdentical;
      TellHearers(name, nullptr,
                  ProgramUnchanged{.generation = generation_, .program = name, .reason = reason});
    }
    if (!work->ir_identical()) {
      std::erase_if(program.last_good, [&](const auto& row) {
        return !work->variants().contains(row.first.first) ||
               std::ranges::find(program.targets, row.first.second) == program.targets.end();
      });
    }
    program.entries = work->entries();
  } else if (program.sent) {
    program.entries.clear();  // some variants are of these sources, others of earlier ones
  }
  SettleIfDone();
}

void Session::SettleIfDone() {
  if (!open_ || working_ != 0) {
    return;
  }
  open_ = false;
  counts_.generation = generation_;
  counts_.ms = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Monotonic() - began_).count());
  Tell(counts_);
}

// ---- What goes to subscribers -------------------------------------------------------------------

bool Session::has_source() const {
  return std::ranges::any_of(subscribers_, [](const auto& row) {
    return row.second.attached != 0 && row.second.wish.role != Role::kSubscriber;
  });
}

void Session::Tell(Subscriber& subscriber, EventBody body) {
  const uint64_t before = subscriber.log.conflated();
  subscriber.log.Append(std::move(body));
  counters_.AddConflated(subscriber.log.conflated() - before);
  subscriber.Wake();
}

void Session::Tell(EventBody body) {
  for (auto& [id, subscriber] : subscribers_) {
    Tell(subscriber, body);
  }
}

void Session::TellHearers(const std::string& program, const std::string* target,
                          const EventBody& body) {
  for (auto& [id, subscriber] : subscribers_) {
    if (subscriber.wish.Hears(program) &&
        (target == nullptr || subscriber.wish.HearsTarget(*target))) {
      Tell(subscriber, body);
    }
  }
}

SessionOpened Session::OpenedFor(bool resumed) const {
  SessionOpened opened{.epoch = epoch_, .source_present = has_source(), .resumed = resumed};
  for (const auto& [name, program] : programs_) {
    opened.programs.push_back(name);
  }
  return opened;
}

// What a new subscriber must know before it hears news: what the session has, as events like any
// others. One that resumed without a gap has heard all of it; for one that fell behind it stands
// between the marks of a snapshot, so that it can drop what is not in there.
void Session::Begin(const std::string& id, Wish wish, ResumeMode resuming,
                    const std::vector<WatchedProgram>* programs) {
  Subscriber& subscriber = subscribers_[id];
  subscriber.wish = wish;
  if (resuming == ResumeMode::kNo) {
    subscriber.log = {};
  }
  subscriber.log.SkipAll();
  SessionOpened opened = OpenedFor(false);
  std::map<std::string_view, const WatchedProgram*> pushed;
  if (programs != nullptr) {
    opened.programs.clear();
    for (const WatchedProgram& program : *programs) {
      opened.programs.push_back(program.program.program.name);
      pushed.emplace(program.program.program.name, &program);
    }
  }
  Tell(subscriber, std::move(opened));
  if (resuming == ResumeMode::kFailed) {
    Tell(subscriber, Snapshot{.begin = true});
  }
  for (const auto& [name, program] : programs_) {
    // Messages about other sources do not apply to these.
    const auto now = pushed.find(name);
    const bool same =
        programs == nullptr || (now != pushed.end() && SameContent(program.is, *now->second));
    SendState(name, program, same ? StateScope::kAll : StateScope::kArtifacts, subscriber);
  }
  if (resuming == ResumeMode::kFailed) {
    Tell(subscriber, Snapshot{.begin = false});
  }
  Want(id, std::move(wish));
}

void Session::TellIfSettled(const std::string& id) {
  Subscriber& subscriber = subscribers_[id];
  if (!open_ && generation_ != 0) {
    Tell(subscriber, ProgramsSettled{.generation = generation_});
  }
  subscriber.Wake();
}

void Session::SendState(const std::string& name, const Program& program, StateScope what,
                        Subscriber& to) {
  if (!to.wish.Hears(name)) {
    return;
  }
  for (const auto& [key, sent] : program.last_good) {
    if (to.wish.HearsTarget(key.second)) {
      Tell(to, NewArtifact{.generation = generation_,
                           .program = name,
                           .variant = key.first,
                           .options = sent.options,
                           .artifact = sent.artifact,
                           .change = {.code = true, .settings = true, .layout = true}});
    }
  }
  if (program.diagnostics != nullptr && what == StateScope::kAll) {
    Tell(to, Diagnostics{.generation = generation_, .program = name, .all = program.diagnostics});
  }
}

// Whether there is nothing to build for the wish.
bool Session::Knows(const Program& program, const Wish& wish, const std::string& name) const {
  if (program.stale || NamesOf(WantedTargets(name, program)) != program.targets) {
    return false;
  }
  return std::ranges::all_of(wish.InterestIn(name), [&](const Interest& interest) {
    const auto row = program.last_good.lower_bound({interest.variant, std::string()});
    return row != program.last_good.end() && row->first.first == interest.variant;
  });
}

void Session::Want(const std::string& id, Wish wish) {
  Subscriber& subscriber = subscribers_[id];
  subscriber.wish = std::move(wish);
  for (auto& [name, program] : programs_) {
    if (program.removed.empty() && subscriber.wish.Hears(name) &&
        !Knows(program, subscriber.wish, name)) {
      if (!open_) {
        open_ = true;
        began_ = clock_.Monotonic();
        counts_ = {};
      }
      program.entries.clear();
      Renew(name, program);
    }
  }
  SettleIfDone();
}

}  // namespace kiln::reload
