// SPDX-License-Identifier: MIT
#include "client/cli/batch_run.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/cli/progress.h"

namespace kiln::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void OnInterrupt(int) {
  if (interrupted != 0) {
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
      ShowDiagnostics(global, item.outcome.diagnostics, loaded.program.sources, item.program);
    }
  }
  if (!global.json) {
    fmt::print(stderr, "in {}: {}\n\n", item.program,
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

Result<BatchOutcome> RunBatch(const Global& global, const Project& project, client::Client& client,
                              const client::BatchOptions& how) {
  constexpr size_t kShownFailures = 20;
  BatchOutcome outcome;
  KILN_TRY(outcome.id, client.StartBatch(project.manifest.name, project.spaces, how));
  Progress progress(global, project.manifest.name);
  size_t failures = 0;
  (void)std::signal(SIGINT, OnInterrupt);
  const auto on_event = [&](const client::BatchEvent& event) {
    if (const auto* counts = std::get_if<client::BatchProgress>(&event)) {
      outcome.progress = *counts;
      progress.Show(*counts);
    } else if (const auto* item = std::get_if<client::BatchItem>(&event)) {
      if (++failures <= kShownFailures) {
        progress.Clear();
        ShowFailure(global, project, *item);
      }
    } else if (const auto* text = std::get_if<std::string>(&event)) {
      progress.Clear();
      fmt::print(stderr, "{}\n", *text);
    } else {
      outcome.final = std::get<client::BatchFinal>(event);
    }
    return interrupted != 0 ? client::Next::kStop : client::Next::kGoOn;
  };
  KILN_TRY_VOID(client.WatchBatch(outcome.id, on_event));
  if (interrupted != 0) {
    (void)client.CancelBatch(outcome.id);
  }
  if (failures > kShownFailures) {
    progress.Clear();
    fmt::print(stderr, "and {} more failing programs\n", failures - kShownFailures);
  }
  return outcome;
}

bool WasInterrupted() { return interrupted != 0; }

}  // namespace kiln::cli
