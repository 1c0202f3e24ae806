// SPDX-License-Identifier: MIT
#include "client/cli/batch_run.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/cli/print.h"
#include "client/cli/progress.h"

namespace kiln::cli {
namespace {

constexpr size_t kShownFailures = 20;
constexpr int kReconnections = 5;
constexpr std::chrono::milliseconds kReconnectAfter{100};
constexpr uint64_t kAnyResults = 4'000'000;  // of a manifest that only wants to be warned

volatile std::sig_atomic_t interrupted = 0;

void OnInterrupt(int) {
  if (interrupted != 0) {
    RestoreTerminal();
    std::_Exit(kInterrupted);  // the second time: at once
  }
  interrupted = 1;
}

bool Wanted(const std::vector<std::string>& patterns, const std::string& name) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& pattern) { return Matches(pattern, name); });
}

void ShowFailure(const Global& global, const Project& project, const client::BatchItem& item) {
  for (const LoadedProgram& loaded : project.programs) {
    if (loaded.program.name == item.program) {
      ShowDiagnostics(global, item.outcome.diagnostics, loaded.program.sources, item.program,
                      "--report");
    }
  }
  if (!global.json) {
    Print(stderr, "in {}: {}\n\n", item.program,
          item.served == "1" ? "1 variant fails" : item.served + " variants fail");
  }
}

}  // namespace

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
                 .reason = "PROGRAM_UNKNOWN"};
  }
  for (const LoadedProgram& loaded : project.programs) {
    KILN_TRY(const client::ListedOptions declared, Declared(client, loaded.program));
    project.declared.emplace_back(loaded.program.name, declared);
    if (!declared.diagnostics.empty() && declared.options.empty()) {
      client::ProgramSpace wrong;  // the daemon reports its errors as the program's result
      wrong.program = loaded.program;
      project.spaces.push_back(std::move(wrong));
      continue;
    }
    KILN_TRY(client::ProgramSpace space, SpaceOf(loaded, declared));
    project.spaces.push_back(std::move(space));
  }
  return project;
}

Result<BatchOutcome> FollowBatch(const Global& global, const std::string& id,
                                 const Following& following, client::Client& client) {
  BatchOutcome outcome{.id = id, .progress = {}, .final = {}, .failures = {}};
  Progress progress(global, following.name);
  progress.Begin(id);
  (void)std::signal(SIGINT, OnInterrupt);
  uint64_t seen = 0;
  const auto on_event = [&](const client::BatchEvent& event, uint64_t seq) {
    seen = seq;
    if (const auto* counts = std::get_if<client::BatchProgress>(&event)) {
      outcome.progress = *counts;
      progress.Show(*counts);
    } else if (const auto* item = std::get_if<client::BatchItem>(&event)) {
      outcome.failures.push_back(*item);
      if (outcome.failures.size() <= kShownFailures) {
        progress.Clear();
        following.failed(*item);
      }
    } else if (const auto* text = std::get_if<std::string>(&event)) {
      progress.Clear();
      Print(stderr, "{}\n", Message{*text});
    } else {
      outcome.final = std::get<client::BatchFinal>(event);
    }
    return interrupted != 0 ? client::Next::kStop : client::Next::kGoOn;
  };
  Result<void> watched = client.WatchBatch(id, seen, on_event);
  for (int attempt = 0; attempt < kReconnections && interrupted == 0 && !watched.ok() &&
                        watched.error().code == ErrorCode::kUnavailable;
       ++attempt) {
    std::this_thread::sleep_for(kReconnectAfter * (1 << attempt));
    if (const Result<void> restarted = following.restart(); !restarted.ok()) {
      watched = restarted;
      continue;
    }
    watched = client.WatchBatch(id, seen, on_event);
  }
  if (interrupted != 0) {
    (void)client.CancelBatch(id);
  } else if (!watched.ok()) {
    return watched.error();
  }
  progress.End(outcome.progress, interrupted != 0 ? "INTERRUPTED" : outcome.final.state);
  if (outcome.failures.size() > kShownFailures) {
    Print(stderr, "and {} more failing programs\n", outcome.failures.size() - kShownFailures);
  }
  return outcome;
}

Result<BatchOutcome> RunBatch(const Global& global, const Project& project, client::Client& client,
                              client::BatchOptions how) {
  const project::ManifestBudget& budget = project.manifest.budget;
  if (how.budget.results == 0) {
    how.budget.results = budget.results;
  }
  how.budget.variants = budget.variants;
  how.budget.cpu_ms = budget.cpu_ms;
  how.budget.output = budget.output;
  Result<std::string> started = client.StartBatch(project.manifest.name, project.spaces, how);
  if (!started.ok() && started.error().reason == "LIMIT_VARIANTS" &&
      project.manifest.budget_warns) {
    Print(stderr, "warning: {}\n", started.error().context);
    how.budget.results = kAnyResults;
    how.budget.variants = 0;
    started = client.StartBatch(project.manifest.name, project.spaces, how);
  }
  KILN_TRY(const std::string id, std::move(started));
  const Following following{
      .name = project.manifest.name,
      .restart = [&]() -> Result<void> {
        KILN_TRY_VOID(ConnectTo(global));
        for (const LoadedProgram& loaded : project.programs) {
          KILN_TRY_VOID(client.PutSources(loaded.program.sources));
        }
        return client.StartBatch(project.manifest.name, project.spaces, how).ok()
                   ? Result<void>()
                   : Result<void>(Error{.code = ErrorCode::kUnavailable,
                                        .context = "the daemon does not take the batch again",
                                        .reason = {}});
      },
      .failed = [&](const client::BatchItem& item) { ShowFailure(global, project, item); }};
  return FollowBatch(global, id, following, client);
}

Result<std::string> BatchNamed(client::Client& client, const std::string& prefix) {
  KILN_TRY(const std::vector<std::string> ids, client.BatchIds());
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    if (id.starts_with(prefix)) {
      found.push_back(id);
    }
  }
  if (found.size() != 1 || prefix.empty()) {
    return Error{.code = found.empty() ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
                 .context = found.empty() ? fmt::format("the daemon knows no batch '{}'", prefix)
                                          : fmt::format("'{}' begins the ids of {} batches", prefix,
                                                        found.size()),
                 .reason = found.empty() ? "UNKNOWN_BATCH" : "USAGE"};
  }
  return found[0];
}

bool WasInterrupted() { return interrupted != 0; }

}  // namespace kiln::cli
