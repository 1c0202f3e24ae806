// SPDX-License-Identifier: MIT
// daemon_bench: a batch of more than 10,000 variants that share their results as those of a large
// upscaler do, about ten variants for each; built once, then found again under other names, so that
// every point is looked up, all hits; then the same once more, of which nothing changed.
// See spec/cache 12, spec/daemon 7.1
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "client/client.h"
#include "tests/bench/daemon_measures.h"

namespace kiln::bench {
namespace {

constexpr double kGateSeconds = 0.5;  // of all hits
constexpr double kGateUnchanged = 0.05;
constexpr uint32_t kLights = 3;
constexpr int kSpareFlags = 3;  // nothing reads them: eight variants have the same result

client::ProgramSpace SharedSpace() {
  std::string text = UberText();
  for (int i = 0; i < kSpareFlags; ++i) {
    text += fmt::format("\nglobal spare_{}: flag false;\n", i);
  }
  client::ProgramSpace space = UberSpace(text, kLights);
  for (int i = 0; i < kSpareFlags; ++i) {
    space.axes.push_back({.name = fmt::format("spare_{}", i), .all = true, .values = {}});
  }
  return space;
}

struct BatchRun {
  bool ok = false;
  double seconds = 0;
  client::BatchProgress last;
};

BatchRun RunBatch(client::Client& client, const client::ProgramSpace& space,
                  const std::string& project) {
  BatchRun run;
  const double start = NowUs();
  const auto batch = client.StartBatch(project, std::span(&space, 1), {});
  if (!batch.ok()) {
    return run;
  }
  (void)client.WatchBatch(*batch, [&](const client::BatchEvent& event) {
    if (const auto* progress = std::get_if<client::BatchProgress>(&event)) {
      run.last = *progress;
    }
    return client::Next::kGoOn;
  });
  run.seconds = (NowUs() - start) / 1e6;
  run.ok = true;
  return run;
}

}  // namespace

Json MeasureBatch(const DaemonBench& bench, Json& gates) {
  const client::ProgramSpace space = SharedSpace();
  const auto client = client::Client::Open(bench.address);
  (void)client->PutSources(space.program.sources);
  const BatchRun cold = RunBatch(*client, space, "batch");
  std::vector<double> seconds, unchanged;
  bool only_hits = cold.ok;
  for (int i = 0; i < (bench.quick ? 3 : 9); ++i) {
    for (std::vector<double>* const times : {&seconds, &unchanged}) {
      const BatchRun warm = RunBatch(*client, space, fmt::format("batch {}", i));
      only_hits = only_hits && warm.ok && warm.last.compiled == 0;
      times->push_back(warm.seconds);
    }
  }
  std::ranges::sort(seconds);
  std::ranges::sort(unchanged);
  const double median = seconds[seconds.size() / 2];
  const double again = unchanged[unchanged.size() / 2];
  gates["batch_of_hits_seconds"] = Gate(median, kGateSeconds, only_hits && median <= kGateSeconds);
  gates["batch_unchanged_seconds"] =
      Gate(again, kGateUnchanged, only_hits && again <= kGateUnchanged);
  return {{"variants", cold.last.variants_total},
          {"results", cold.last.results_done},
          {"compiled", cold.last.compiled},
          {"cold_seconds", cold.seconds},
          {"hits_seconds", median},
          {"hits_slowest_seconds", seconds.back()},
          {"unchanged_seconds", again}};
}

}  // namespace kiln::bench
