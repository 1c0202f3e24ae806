// SPDX-License-Identifier: MIT
#include "client/cli/batch/batch_run.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/cli/batch/interrupt.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/progress.h"
#include "client/cli/project/mistakes.h"
#include "client/cli/project/space_mistakes.h"
#include "client/cli/session.h"
#include "client/includes/include_set.h"
#include "compiler/diag/render.h"

namespace kiln::cli {
namespace {

// The wait is doubled each time, so a daemon has about three seconds to come back: longer than a
// restart takes, shorter than a person waits in doubt.
constexpr int kReconnections = 5;
constexpr std::chrono::milliseconds kReconnectAfter{100};
constexpr uint64_t kAnyResults = 4'000'000;  // of a manifest that only wants to be warned

// Failures of one batch that are kept and shown; the rest is counted. Who builds hundreds of
// thousands of broken variants reads the first ones, and a daemon may tell of them without end.
constexpr size_t kMostFailures = 10'000;
constexpr size_t kMostFailureBytes = size_t{64} << 20;

bool Wanted(const std::vector<std::string>& patterns, const std::string& name) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& pattern) { return Matches(pattern, name); });
}

// About what a failure takes in memory.
size_t ItemBytes(const client::BatchItem& item) {
  size_t bytes = sizeof(item) + item.program.size() + item.served.size();
  for (const client::Option& option : item.options) {
    const auto* text = std::get_if<std::string>(&option.value);
    bytes += sizeof(option) + option.name.size() + (text == nullptr ? 0 : text->size());
  }
  for (const PlacedDiagnostic& diagnostic : item.outcome.diagnostics) {
    bytes += sizeof(diagnostic) + RenderShort(diagnostic).size();
    for (const std::string& note : diagnostic.notes) {
      bytes += sizeof(note) + note.size();
    }
    for (const PlacedLabel& label : diagnostic.labels) {
      bytes += sizeof(label) + label.text.size() + label.where.path.size();
    }
  }
  return bytes;
}

// The first failures, and how many came behind them.
class FailureList {
 public:
  // Whether it is one of those that are shown.
  bool Add(const client::BatchItem& item, std::vector<client::BatchItem>& kept) {
    // A daemon that is asked to build a broken manifest may report failures without end, so both
    // their number and their size are bounded.
    const size_t bytes = ItemBytes(item);
    if (kept.size() >= kMostFailures || bytes > kMostFailureBytes - bytes_) {
      ++more_;
      return false;
    }
    bytes_ += bytes;
    kept.push_back(item);
    return true;
  }
  size_t more() const { return more_; }

 private:
  size_t bytes_ = 0, more_ = 0;
};

// What is wrong, once: the other programs that have it are named at the end.
void ShowFailure(const Global& global, const Project& project, const client::BatchItem& item,
                 Mistakes& mistakes) {
  Mistakes::MistakeCounts added;
  for (const LoadedProgram& loaded : project.programs) {
    if (loaded.program.name == item.program) {
      added = mistakes.Add(item.program, item.outcome.diagnostics, client::TextsOf(loaded.program),
                           "--report");
    }
  }
  // A mistake in a shared file fails in every program that links it. Its text is shown with the
  // first one.
  if (!global.json && (added.fresh != 0 || item.outcome.diagnostics.empty())) {
    Print(stderr, "in {}: {}\n\n", item.program,
          item.served == "1" ? "1 variant fails" : item.served + " variants fail");
  }
}

// A disk that is full costs the cache, not the build: then it is a warning.
void ShowProblem(const Global& global, const client::BatchFinal& final) {
  const bool wrong = final.exit_hint == kPartial;
  if (global.json && wrong) {
    PrintLine(JsonOf(ErrorRow{.reason = "RESULTS_MISSING",
                              .message = final.problem,
                              .exit = static_cast<int>(final.exit_hint)}));
  } else if (wrong || !global.quiet) {
    Print(stderr, "{}: {}\n", wrong ? "error" : "warning", Message{final.problem});
  }
}

}  // namespace

// Three steps: the manifest is read, the sources of the wanted programs are read and uploaded, and
// the values of the manifest get the types that the sources declare. A program with wrong sources
// stays in the project, with its sources and without a space.
Result<Project> LoadProject(const Global& global, const std::vector<std::string>& patterns,
                            client::Client& client) {
  Project project;
  KILN_TRY(project.manifest, LoadManifest(global));
  for (const project::ManifestProgram& program : project.manifest.programs) {
    if (Wanted(patterns, program.name)) {
      KILN_TRY(LoadedProgram loaded, LoadProgram(project.manifest, program));
      project.programs.push_back(std::move(loaded));
    }
  }
  if (project.programs.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = fmt::format("'{}' has no program '{}'", project.manifest.path,
                                        fmt::join(patterns, "', '")),
                 .reason = "UNKNOWN_PROGRAM"};
  }
  // The options of all programs are asked for in one go, which uploads each shared source once.
  std::vector<const client::Program*> programs;
  for (const LoadedProgram& loaded : project.programs) {
    programs.push_back(&loaded.program);
  }
  KILN_TRY(std::vector<client::OptionList> listed, DeclaredOf(client, programs));
  for (size_t i = 0; i < listed.size(); ++i) {
    const LoadedProgram& loaded = project.programs[i];
    const client::OptionList& declared =
        project.declared.emplace_back(loaded.program.name, std::move(listed[i])).second;
    if (client::HasErrors(declared)) {  // and so nobody knows what it declares
      client::ProgramSpace wrong;       // the daemon reports its errors as the program's result
      wrong.program = loaded.program;
      project.spaces.push_back(std::move(wrong));
      continue;
    }
    KILN_TRY(client::ProgramSpace space, SpaceOf(loaded, declared));
    project.spaces.push_back(std::move(space));
  }
  return project;
}

// Events are numbered. After a lost connection watching goes on behind the last number that was
// seen, so nothing is shown twice and nothing is missed.
Result<BatchOutcome> FollowBatch(const Global& global, const std::string& id,
                                 const BatchFollower& following, client::Client& client) {
  BatchOutcome outcome{.id = id, .progress = {}, .final = {}, .failures = {}};
  Progress progress(global, following.name);
  progress.Begin(id);
  const BatchInterrupt interrupt(global, [&] { (void)client.CancelBatch(id); });
  // The number of the last event. After a lost connection the stream goes on behind it, so no event
  // is shown twice and none is left out.
  uint64_t seen = 0;
  FailureList failures;
  const auto on_event = [&](const client::BatchEvent& event, uint64_t seq) {
    seen = seq;
    if (const auto* counts = std::get_if<client::BatchProgress>(&event)) {
      outcome.progress = *counts;
      progress.Show(*counts);
    } else if (const auto* item = std::get_if<client::BatchItem>(&event)) {
      if (failures.Add(*item, outcome.failures)) {
        progress.Clear();
        following.failed(*item);
      }
    } else if (const auto* text = std::get_if<std::string>(&event)) {
      progress.Clear();
      Print(stderr, "{}\n", Message{*text});
    } else {
      outcome.final = std::get<client::BatchFinal>(event);
    }
    return WasInterrupted() ? client::Next::kStop : client::Next::kGoOn;
  };
  Result<void> watched = client.WatchBatch(id, seen, on_event);
  for (int attempt = 0; attempt < kReconnections && !WasInterrupted() && !watched.ok() &&
                        watched.error().code == ErrorCode::kUnavailable;
       ++attempt) {
    // Only a daemon that is not there is waited for. Any other failure is an answer.
    std::this_thread::sleep_for(kReconnectAfter * (1 << attempt));
    if (const Result<void> restarted = following.restart(); !restarted.ok()) {
      watched = restarted;
      continue;
    }
    watched = client.WatchBatch(id, seen, on_event);
  }
  if (!WasInterrupted() && !watched.ok()) {
    return watched.error();
  }
  // Whoever has told of failures does not end well.
  if (outcome.final.exit_hint == kSuccess && outcome.failures.size() + failures.more() != 0) {
    outcome.final.exit_hint = kPartial;
  }
  progress.End(outcome.progress, WasInterrupted() ? "INTERRUPTED" : outcome.final.state);
  if (failures.more() != 0) {
    Print(stderr,
          "and {} more failures, which are neither shown nor reported; see kiln batch items {}\n",
          failures.more(), id.substr(0, 8));
  }
  if (!outcome.final.problem.empty() && !WasInterrupted()) {
    ShowProblem(global, outcome.final);
  }
  return outcome;
}

// The daemon says that an expression is wrong, but not where in the manifest. Counting the space of
// each program gives the diagnostics with their places, which are shown instead.
Error WithMistakes(const Global& global, const Project& project, const std::string& where,
                   const Error& error, client::Client& client) {
  Mistakes mistakes(global);
  const SpaceMistakes in_files(project.manifest, where);
  size_t errors = 0;
  for (const client::ProgramSpace& space : project.spaces) {
    const Result<client::VariantCount> count = client.CountVariants(space, where);
    if (count.ok()) {
      errors += mistakes
                    .Add(space.program.name, in_files.InFiles(count->diagnostics),
                         in_files.SourcesWith(space.program.sources))
                    .errors;
    }
  }
  mistakes.End();
  return errors == 0 ? error
                     : Error{.code = error.code,
                             .context = "the variants to build are wrong",
                             .reason = error.reason};
}

Result<BatchOutcome> RunBatch(const Global& global, const Project& project, client::Client& client,
                              client::BatchOptions how) {
  const project::ManifestBudget& budget = project.manifest.budget;
  // A flag wins over the manifest.
  if (how.budget.results == 0) {
    how.budget.results = budget.results;
  }
  // The other three bounds have no flags.
  how.budget.variants = budget.variants;
  how.budget.cpu_ms = budget.cpu_ms;
  how.budget.output = budget.output;
  Result<std::string> started = client.StartBatch(project.manifest.name, project.spaces, how);
  // A manifest may ask for a warning where the budget is exceeded (spec/daemon 6.2). Then the batch
  // is started once more with a bound that only a mistake reaches.
  if (!started.ok() && started.error().reason == "LIMIT_VARIANTS" &&
      project.manifest.budget_warns) {
    Print(stderr, "warning: {}\n", started.error().context);
    how.budget.results = kAnyResults;
    how.budget.variants = 0;
    started = client.StartBatch(project.manifest.name, project.spaces, how);
  }
  if (!started.ok() && started.error().reason == "BAD_EXPRESSION") {
    return WithMistakes(global, project, how.filter, started.error(), client);
  }
  KILN_TRY(const std::string id, std::move(started));
  Mistakes mistakes(global);
  const BatchFollower following{
      .name = project.manifest.name,
      // A daemon that starts anew has forgotten the sources, which are never files of its own. The
      // same request again gives the same batch (spec/daemon 7.1).
      .restart = [&]() -> Result<void> {
        KILN_TRY_VOID(ConnectTo(global));
        for (const LoadedProgram& loaded : project.programs) {
          KILN_TRY_VOID(client.PutSources(client::UploadsOf(loaded.program)));
        }
        return client.StartBatch(project.manifest.name, project.spaces, how).ok()
                   ? Result<void>()
                   : Result<void>(Error{.code = ErrorCode::kUnavailable,
                                        .context = "the daemon does not take the batch again",
                                        .reason = {}});
      },
      .failed =
          [&](const client::BatchItem& item) { ShowFailure(global, project, item, mistakes); }};
  Result<BatchOutcome> outcome = FollowBatch(global, id, following, client);
  mistakes.End();
  return outcome;
}

Result<std::string> BatchNamed(client::Client& client, const std::string& prefix) {
  KILN_TRY(const std::vector<std::string> ids, client.BatchIds());
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    if (id.starts_with(prefix)) {
      found.push_back(id);
    }
  }
  // An empty prefix begins every id, so it would name the only batch there is, by accident.
  if (found.size() != 1 || prefix.empty()) {
    return Error{.code = found.empty() ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
                 .context = found.empty() ? fmt::format("the daemon knows no batch '{}'", prefix)
                                          : fmt::format("'{}' begins the ids of {} batches", prefix,
                                                        found.size()),
                 .reason = found.empty() ? "UNKNOWN_BATCH" : "USAGE"};
  }
  return found[0];
}

bool WasInterrupted() { return BatchInterrupt::Happened(); }

}  // namespace kiln::cli
