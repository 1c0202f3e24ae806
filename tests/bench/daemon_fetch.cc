// SPDX-License-Identifier: MIT
// daemon_bench: the artifacts of a batch of 10,000 variants over one Fetch, beside a bare stream of
// the same bytes with a message for each artifact. Beside the times, the CPU that both ends took:
// it tells what a stream costs on a machine where others decide how long it takes.
#include <algorithm>

#include <grpcpp/grpcpp.h>

#include "client/client.h"
#include "proto/kiln/v1/compile.grpc.pb.h"
#include "tests/bench/bare_peer.h"
#include "tests/bench/daemon_measures.h"

namespace kiln::bench {
namespace {

constexpr double kGate = 0.6;
constexpr double kStallMs = 10'000;  // a stream that stalls goes on with a ping, after 20 s

struct Moved {
  double us = 0;
  uint64_t messages = 0, bytes = 0, artifacts = 0;
};

Moved Fetch(const DaemonBench& bench, const std::string& batch) {
  const auto stub = v1::CompileService::NewStub(bench.daemon);
  grpc::ClientContext context;
  v1::FetchRequest request;
  request.set_together(true);
  const std::optional<Hash128> id = ParseHash128(batch);
  request.set_batch_id(std::string(id->bytes.begin(), id->bytes.end()));
  Moved moved;
  const double start = NowUs();
  const auto stream = stub->Fetch(&context, request);
  v1::FetchReply reply;
  while (stream->Read(&reply)) {
    ++moved.messages;
    for (const v1::BlobChunk& chunk : reply.blobs()) {
      moved.bytes += chunk.data().size();
    }
    moved.artifacts += static_cast<uint64_t>(reply.outcomes_size());
  }
  moved.us = stream->Finish().ok() ? NowUs() - start : -1;
  return moved;
}

}  // namespace

Json MeasureFetch(const DaemonBench& bench, Json& gates) {
  const auto client = client::Client::Open(bench.address);
  const client::ProgramSpace space = UberSpace(UberText(), kLightsOf10000Results);
  (void)client->PutSources(space.program.sources);
  const auto batch = client->StartBatch("bench", std::span(&space, 1), {});
  if (!batch.ok() ||
      !client->WatchBatch(*batch, [](const client::BatchEvent&) { return client::Next::kGoOn; })
           .ok()) {
    gates["fetch_of_bare_stream"] = Gate(0, kGate, false);
    return {{"error", "the batch failed"}};
  }
  std::vector<double> ratios, cpu, bare_cpu;
  Moved moved;
  double bare_us = 0;
  double slowest_us = 0;
  (void)Fetch(bench, *batch);
  for (int i = 0; i < (bench.quick ? 2 : 15); ++i) {
    const double cpu_begin = CpuUsWith(bench.daemon_pid);
    moved = Fetch(bench, *batch);
    cpu.push_back(CpuUsWith(bench.daemon_pid) - cpu_begin);
    const double bare_begin = CpuUsWith(bench.peer_pid);
    const double start = NowUs();
    (void)CallPeer(bench.peer,
                   {.messages = moved.artifacts, .bytes = moved.bytes / moved.artifacts});
    bare_us = NowUs() - start;
    bare_cpu.push_back(CpuUsWith(bench.peer_pid) - bare_begin);
    ratios.push_back(moved.us > 0 ? bare_us / moved.us : 0);
    slowest_us = std::max(slowest_us, moved.us);
  }
  std::ranges::sort(ratios);
  const double ratio = ratios[ratios.size() / 2];
  gates["fetch_of_bare_stream"] = Gate(ratio, kGate, ratio >= kGate);
  gates["fetch_slowest_ms"] = Gate(slowest_us / 1000, kStallMs, slowest_us / 1000 <= kStallMs);
  return {{"artifacts", moved.artifacts},
          {"messages", moved.messages},
          {"bytes", moved.bytes},
          {"fetch_ms", moved.us / 1000},
          {"slowest_ms", slowest_us / 1000},
          {"bare_ms", bare_us / 1000},
          {"cpu_ms", PercentilesOf(cpu).p50 / 1000},
          {"bare_cpu_ms", PercentilesOf(bare_cpu).p50 / 1000},
          {"ratio", ratio},
          {"ratios", ratios}};
}

}  // namespace kiln::bench
