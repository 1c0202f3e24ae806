// SPDX-License-Identifier: MIT
// kiln build and kiln fetch: every variant of the manifest's programs as a batch.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/progress.h"
#include "client/cli/project.h"
#include "client/cli/results.h"
#include "client/cli/verbs.h"
#include "compiler/base/file.h"

namespace kiln::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void OnInterrupt(int) {
  if (interrupted != 0) {
    std::_Exit(kInterrupted);  // the second time: at once
  }
  interrupted = 1;
}

// Loaded programs and what to send for them.
struct Project {
  project::Manifest manifest;
  std::vector<LoadedProgram> programs;
  std::vector<client::ProgramSpace> spaces;
};

bool Wanted(const std::vector<std::string>& patterns, const std::string& name) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& pattern) { return Matches(pattern, name); });
}

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

struct BatchOutcome {
  std::string id;
  client::BatchProgress progress;
  client::BatchFinal final;
};

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

Result<BatchOutcome> RunBatch(const Global& global, const Project& project, client::Client& client,
                              bool retry_failed) {
  constexpr size_t kShownFailures = 20;
  BatchOutcome outcome;
  KILN_TRY(outcome.id, client.StartBatch(project.manifest.name, project.spaces, retry_failed));
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

void PrintSummary(const Global& global, const Project& project, const BatchOutcome& batch,
                  double seconds, int exit) {
  const client::BatchProgress& p = batch.progress;
  const uint64_t hits = p.hit_memory + p.hit_local;
  const std::vector<std::pair<std::string, uint64_t>> counts{
      {"programs", project.programs.size()},
      {"variants", std::strtoull(p.variants_served.c_str(), nullptr, 10)},
      {"results", p.results_done},
      {"modules", p.code_distinct},
      {"compiled", p.compiled},
      {"hits", hits},
      {"shared", p.shared},
      {"failed", p.failed}};
  PrintResult(global, "build", exit, seconds, counts);
  if (global.json) {
    return;
  }
  fmt::print("build {}  {} programs, {} variants allowed\n", project.manifest.name,
             project.programs.size(), p.variants_total);
  fmt::print("  {} distinct results   {} unique SPIR-V modules   {:.1f} KiB\n", p.results_done,
             p.code_distinct, static_cast<double>(p.bytes_out) / 1024.0);
  fmt::print("  {} cached   {} compiled   {} shared   {} failed\n", hits, p.compiled, p.shared,
             p.failed);
  fmt::print("  wall {:.2f} s   compile cpu {:.2f} s   saved {:.2f} s\n", seconds,
             static_cast<double>(p.cpu_ms) / 1000.0, static_cast<double>(p.cpu_saved_ms) / 1000.0);
  if (exit == kSuccess) {
    fmt::print("ok. again: kiln build\n");
  }
}

// Writes blobs by content id and an index that leads from programs and options to them.
Result<void> WriteResults(const std::string& folder, const Fetched& fetched) {
  nlohmann::ordered_json index = nlohmann::ordered_json::array();
  for (const auto& [id, bytes] : fetched.blobs) {
    KILN_TRY_VOID(WriteFile(fmt::format("{}/blobs/{}", folder, id.hex()), bytes));
  }
  for (const client::Outcome& outcome : fetched.outcomes) {
    for (const client::Artifact& artifact : outcome.artifacts) {
      nlohmann::ordered_json code = nlohmann::ordered_json::object();
      for (const client::StageCode& stage : artifact.code) {
        const std::string name = StageName(stage.stage);
        code[name.empty() ? "program" : name] = stage.digest.id.hex();
      }
      index.push_back({{"signature", artifact.signature},
                       {"target", artifact.target},
                       {"code", code},
                       {"metadata", artifact.metadata.id.hex()},
                       {"layout_hash", artifact.layout_hash}});
    }
  }
  return WriteFile(folder + "/index.json", AsBytes(index.dump(1)));
}

Result<Fetched> FetchAll(client::Client& client, const std::string& batch) {
  Fetched fetched;
  KILN_TRY(fetched.done, client.FetchBatch(batch, {}, Collect(fetched)));
  return fetched;
}

}  // namespace

int RunBuild(const Global& global, const BuildArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  Result<client::Connected> connected = ConnectTo(global);
  if (!connected.ok()) {
    return Fail(global, connected.error());
  }
  client::Client& client = *connected->client;
  const Result<Project> project = LoadProject(global, arguments.programs, client);
  if (!project.ok()) {
    return Fail(global, project.error());
  }
  const Result<BatchOutcome> batch = RunBatch(global, *project, client, arguments.retry_failed);
  if (!batch.ok()) {
    return Fail(global, batch.error());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const int exit = interrupted != 0 ? kInterrupted : static_cast<int>(batch->final.exit_hint);
  PrintSummary(global, *project, *batch, seconds.count(), exit);
  if (!arguments.out.empty() && exit == kSuccess) {
    const Result<Fetched> fetched = FetchAll(client, batch->id);
    const Result<void> written =
        fetched.ok() ? WriteResults(arguments.out, *fetched) : Result<void>(fetched.error());
    if (!written.ok()) {
      return Fail(global, written.error());
    }
  }
  return exit;
}

int RunFetch(const Global& global, const FetchArguments& arguments) {
  if (arguments.programs.empty() && !arguments.all) {
    return Fail(global, {.code = ErrorCode::kInvalidArgument,
                         .context = "name programs, or pass --all",
                         .reason = "USAGE"});
  }
  Result<client::Connected> connected = ConnectTo(global);
  if (!connected.ok()) {
    return Fail(global, connected.error());
  }
  client::Client& client = *connected->client;
  const Result<Project> project = LoadProject(global, arguments.programs, client);
  if (!project.ok()) {
    return Fail(global, project.error());
  }
  const Result<BatchOutcome> batch = RunBatch(global, *project, client, false);
  if (!batch.ok()) {
    return Fail(global, batch.error());
  }
  const auto start = std::chrono::steady_clock::now();
  const Result<Fetched> fetched = FetchAll(client, batch->id);
  const Result<void> written =
      fetched.ok() ? WriteResults(arguments.out, *fetched) : Result<void>(fetched.error());
  if (!written.ok()) {
    return Fail(global, written.error());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto megabytes = static_cast<double>(fetched->done.bytes_sent) / 1e6;
  if (!global.json) {
    fmt::print("fetched {} results, {} blobs, {:.2f} MB in {:.2f} s ({:.1f} MB/s) to {}\n",
               fetched->outcomes.size(), fetched->blobs.size(), megabytes, seconds.count(),
               megabytes / std::max(seconds.count(), 1e-9), arguments.out);
  }
  const std::vector<std::pair<std::string, uint64_t>> counts{{"results", fetched->outcomes.size()},
                                                             {"blobs", fetched->blobs.size()}};
  PrintResult(global, "fetch", kSuccess, seconds.count(), counts);
  return static_cast<int>(batch->final.exit_hint);
}

}  // namespace kiln::cli
