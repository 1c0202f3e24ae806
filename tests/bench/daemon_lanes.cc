// SPDX-License-Identifier: MIT
// daemon_bench: warm Compile calls of an idle daemon, then of one that builds 10,000 variants.
#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "client/client.h"
#include "tests/bench/daemon_hit.h"

namespace kiln::bench {
namespace {

constexpr double kGate = 2;

}  // namespace

Json MeasureLanes(const DaemonBench& bench, Json& gates) {
  HitCall call(bench);
  const size_t calls = bench.quick ? 500 : 5000;
  std::vector<double> idle;
  idle.reserve(calls);
  while (idle.size() < calls) {
    idle.push_back(call.Us());
  }
  std::vector<double> busy;
  uint64_t results = 0;
  // Sources of their own: nothing of the batch is cached.
  for (int round = 0; round < (bench.quick ? 1 : 2); ++round) {
    const client::ProgramSpace space = UberSpace(
        UberText() + fmt::format("\nf1 round_{} (void) {{ return {}.0; }}\n", round, round),
        kLightsOf10000Variants);
    const auto client = client::Client::Open(bench.address);
    (void)client->PutSources(space.program.sources);
    const auto batch = client->StartBatch("lanes", std::span(&space, 1), {});
    std::atomic<bool> running{batch.ok()};
    std::thread watching([&] {
      (void)client->WatchBatch(batch.ok() ? *batch : "", [&](const client::BatchEvent& event) {
        if (const auto* progress = std::get_if<client::BatchProgress>(&event)) {
          results = progress->results_done;
        }
        return client::Next::kGoOn;
      });
      running = false;
    });
    while (running) {
      busy.push_back(call.Us());
    }
    watching.join();
  }
  if (busy.empty()) {
    gates["interactive_p99_busy_of_idle"] = Gate(0, kGate, false);
    return {{"error", "the batch did not run"}};
  }
  const Percentiles alone = PercentilesOf(idle);
  const Percentiles beside = PercentilesOf(busy);
  const double ratio = beside.p99 / alone.p99;
  gates["interactive_p99_busy_of_idle"] = Gate(ratio, kGate, ratio <= kGate);
  return {{"results", results},
          {"idle_us", ToJson(alone)},
          {"busy_us", ToJson(beside)},
          {"ratio_p99", ratio}};
}

}  // namespace kiln::bench
