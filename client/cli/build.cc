// SPDX-License-Identifier: MIT
// kiln build and kiln fetch: every variant of the manifest's programs as a batch.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/batch_run.h"
#include "client/cli/results.h"
#include "client/cli/verbs.h"
#include "compiler/base/file.h"

namespace kiln::cli {
namespace {

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
  fmt::print("build {}  {} programs, {} variants allowed   batch {}\n", project.manifest.name,
             project.programs.size(), p.variants_total, batch.id.substr(0, 8));
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
  const Result<BatchOutcome> batch = RunBatch(
      global, *project, client, {.retry_failed = arguments.retry_failed, .pin = arguments.pin});
  if (!batch.ok()) {
    return Fail(global, batch.error());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const int exit = WasInterrupted() ? kInterrupted : static_cast<int>(batch->final.exit_hint);
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
  const Result<BatchOutcome> batch = RunBatch(global, *project, client, {});
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
