// SPDX-License-Identifier: MIT
// daemon_bench: warm Compile calls of an idle daemon, then of one that builds 10,000 variants; and
// bare echoes of the same sizes in between, which meet the same machine and no lane.
#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "client/client.h"
#include "tests/bench/bare_peer.h"
#include "tests/bench/daemon_hit.h"

namespace kiln::bench {
namespace {

constexpr double kGate = 2;
// Of what a bare echo takes beside the same batch: it waits for the same processors, and for no
// lane.
constexpr double kGateOfEcho = 2;

// A hit and an echo, turn and turn about: both meet the same moments of the machine.
struct Turns {
  HitCall hit;
  const std::shared_ptr<grpc::Channel>& peer;
  const PeerRequest same{.bytes = hit.reply_bytes(), .padding = hit.request_bytes()};

  void Take(std::vector<double>& hits, std::vector<double>& echoes) {
    hits.push_back(hit.Us());
    const double start = NowUs();
    (void)CallPeer(peer, same);
    echoes.push_back(NowUs() - start);
  }
};

}  // namespace

Json MeasureLanes(const DaemonBench& bench, Json& gates) {
  Turns turns{.hit = HitCall(bench), .peer = bench.peer};
  const size_t calls = bench.quick ? 500 : 5000;
  std::vector<double> idle, idle_echo, busy, busy_echo;
  while (idle.size() < calls) {
    turns.Take(idle, idle_echo);
  }
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
      turns.Take(busy, busy_echo);
    }
    watching.join();
  }
  if (busy.empty()) {
    gates["interactive_p99_busy_of_idle"] = Gate(0, kGate, false);
    gates["interactive_p99_of_echo"] = Gate(0, kGateOfEcho, false);
    return {{"error", "the batch did not run"}};
  }
  const Percentiles alone = PercentilesOf(idle);
  const Percentiles beside = PercentilesOf(busy);
  const Percentiles echo = PercentilesOf(busy_echo);
  const double ratio = beside.p99 / alone.p99;
  const double of_echo = beside.p99 / echo.p99;
  gates["interactive_p99_busy_of_idle"] = Gate(ratio, kGate, ratio <= kGate);
  gates["interactive_p99_of_echo"] = Gate(of_echo, kGateOfEcho, of_echo <= kGateOfEcho);
  return {{"results", results},           {"idle_us", ToJson(alone)},
          {"busy_us", ToJson(beside)},    {"idle_echo_us", ToJson(PercentilesOf(idle_echo))},
          {"busy_echo_us", ToJson(echo)}, {"ratio_p99", ratio},
          {"ratio_p99_of_echo", of_echo}};
}

}  // namespace kiln::bench
