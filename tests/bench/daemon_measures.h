// SPDX-License-Identifier: MIT
// What the measurements of daemon_bench share. Each is a function in a file of its own,
// daemon_<name>.cc, and a line in the table of daemon_bench.cc: it returns what it found and adds
// gates.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "client/types.h"

namespace grpc {
class Channel;
}

namespace kiln::bench {

using Json = nlohmann::ordered_json;

// A daemon and its peer, each in a process of its own, on unix sockets.
struct DaemonBench {
  std::string folder;   // for files of this run
  std::string address;  // of the daemon
  std::shared_ptr<grpc::Channel> daemon;
  std::shared_ptr<grpc::Channel> peer;  // gRPC that does nothing but move bytes: bare_peer.h
  pid_t daemon_pid = 0, peer_pid = 0;
  bool quick = false;  // fewer samples; the figures mean less
};

struct Percentiles {
  double p50 = 0, p99 = 0, max = 0;
};
// Requires: not empty.
Percentiles PercentilesOf(std::vector<double> samples);
Json ToJson(const Percentiles& percentiles);

Json Gate(double value, double gate, bool ok);

// Microseconds of the steady clock.
double NowUs();
// Microseconds of CPU that a process and this one have had together.
double CpuUsWith(pid_t process);

// The uber material of the benches, entry points and one SPIR-V target; `text` replaces the source.
std::string UberText();
client::Program UberProgram(const std::string& text);
// Its options as a space of variants that differ in the fragment stage: 512 for each number of
// lights up to `most_lights`, with 384 results.
client::ProgramSpace UberSpace(const std::string& text, uint32_t most_lights);
inline constexpr uint32_t kLightsOf10000Variants = 20;
inline constexpr uint32_t kLightsOf10000Results = 27;

// Warm Compile calls beside bare echoes of the same sizes.
Json MeasureHit(const DaemonBench& bench, Json& gates);
// 10,000 artifacts over Fetch beside a bare stream of the same bytes.
Json MeasureFetch(const DaemonBench& bench, Json& gates);
// From the write of a file to the bytes at a watching client.
Json MeasureWatch(const DaemonBench& bench, Json& gates);
// 10,000 variants that are all known, as a batch.
Json MeasureBatch(const DaemonBench& bench, Json& gates);
// Warm Compile calls while a batch runs, beside those of an idle daemon.
Json MeasureLanes(const DaemonBench& bench, Json& gates);
// Calls that are cancelled, until nothing works for them.
Json MeasureCancel(const DaemonBench& bench, Json& gates);

}  // namespace kiln::bench
