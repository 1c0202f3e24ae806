// SPDX-License-Identifier: MIT
// A daemon as its clients see it, beside bare gRPC in the same run.
//   daemon_bench [--json] [--quick] [--only NAME]
// See spec/daemon 16
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "client/autostart.h"
#include "compiler/base/digest.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"
#include "tests/bench/bare_peer.h"
#include "tests/bench/daemon_measures.h"

namespace kiln::bench {
namespace {

struct Measure {
  const char* name;
  Json (*run)(const DaemonBench& bench, Json& gates);
};
constexpr std::array<Measure, 6> kMeasures = {{{"hit", MeasureHit},
                                               {"fetch", MeasureFetch},
                                               {"batch", MeasureBatch},
                                               {"watch", MeasureWatch},
                                               {"lanes", MeasureLanes},
                                               {"cancel", MeasureCancel}}};

void Print(const Json& report) {
  for (const auto& [name, values] : report.items()) {
    fmt::print("{:<12}{}\n", name, values.dump());
  }
}

pid_t StartPeer(const std::string& socket) {
  const pid_t pid = fork();
  if (pid == 0) {
    (void)execl("/proc/self/exe", "daemon_bench", "--peer", socket.c_str(), nullptr);
    _exit(127);
  }
  return pid;
}

int Run(const std::string& only, bool quick, bool json) {
  const TestDirectory directory;
  const std::string folder = directory.path().string();
  const pid_t peer = StartPeer(folder + "/peer.sock");  // before this process uses gRPC
  (void)setenv("KILN_CACHE_DIR", (folder + "/cache").c_str(), 1);
  DaemonBench bench{.folder = folder, .address = "unix:" + folder + "/run/kilnd.sock"};
  bench.quick = quick;
  Result<client::DaemonConnection> connected =
      client::Connect({.address = bench.address}, client::Autostart::kYes);
  if (!connected.ok()) {
    fmt::print(stderr, "{}\n", connected.error().context);
    return 1;
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  const auto open = [&](const std::string& address) {
    auto channel =
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
    (void)channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10));
    return channel;
  };
  bench.daemon = open(bench.address);
  bench.peer = open("unix:" + folder + "/peer.sock");
  bench.peer_pid = peer;
  const Result<client::ServerInfo> info = connected->client->Ping(std::chrono::seconds(10));
  bench.daemon_pid = info.ok() ? static_cast<pid_t>(info->pid) : 0;
  Json report{{"bench", "daemon"}, {"threads", std::thread::hardware_concurrency()}};
  Json gates = Json::object();
  for (const Measure& measure : kMeasures) {
    if (only.empty() || only == measure.name) {
      report[measure.name] = measure.run(bench, gates);
    }
  }
  report["gates"] = gates;
  (void)connected->client->Drain();
  (void)kill(peer, SIGKILL);
  json ? fmt::print("{}\n", report.dump(1)) : Print(report);
  const bool ok = std::ranges::all_of(gates, [](const Json& gate) { return gate["ok"] == true; });
  return ok ? 0 : 1;
}

}  // namespace

Percentiles PercentilesOf(std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto at = [&](double part) {
    return samples[std::min(samples.size() - 1,
                            static_cast<size_t>(part * static_cast<double>(samples.size())))];
  };
  return {.p50 = at(0.5), .p99 = at(0.99), .max = samples.back()};
}

Json ToJson(const Percentiles& percentiles) {
  return {{"p50", percentiles.p50}, {"p99", percentiles.p99}, {"max", percentiles.max}};
}

Json Gate(double value, double gate, bool ok) {
  return {{"value", value}, {"gate", gate}, {"ok", ok}};
}

double NowUs() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double CpuUsWith(pid_t process) {
  const auto us_of = [](clockid_t clock) {
    timespec spent{};
    (void)clock_gettime(clock, &spent);
    return static_cast<double>(spent.tv_sec) * 1e6 + static_cast<double>(spent.tv_nsec) / 1e3;
  };
  clockid_t clock = 0;
  const bool known = process > 0 && clock_getcpuclockid(process, &clock) == 0;
  return us_of(CLOCK_PROCESS_CPUTIME_ID) + (known ? us_of(clock) : 0);
}

std::string UberText() { return ReadFile(KILN_SOURCE_DIR "/tests/bench/shaders/uber.rpl").value(); }

client::Program UberProgram(const std::string& text) {
  client::Program program{.name = "uber"};
  program.sources.push_back(
      {.path = "uber.rpl", .digest = DigestOf(std::string_view(text)), .text = text});
  program.entries = {{client::Stage::kVertex, "vertex_main"},
                     {client::Stage::kFragment, "fragment_main"}};
  program.targets.push_back({.name = "vk"});
  return program;
}

client::ProgramSpace UberSpace(const std::string& text, uint32_t most_lights) {
  client::ProgramSpace space{.program = UberProgram(text)};
  for (const char* name :
       {"use_directional", "use_normal_map", "use_metal_rough_map", "use_occlusion", "use_emissive",
        "normal_two_channel", "alpha_clip", "tonemap"}) {
    space.axes.push_back({.name = name, .all = true, .values = {}});
  }
  client::Axis lights{.name = "max_point_lights"};
  for (uint32_t count = 1; count <= most_lights; ++count) {
    lights.values.push_back({.name = "max_point_lights", .value = count});
  }
  space.axes.push_back(std::move(lights));
  return space;
}

}  // namespace kiln::bench

int main(int argc, char** argv) {
  CLI::App app("A daemon as its clients see it.", "daemon_bench");
  bool json = false;
  bool quick = false;
  std::string only;
  std::string peer;
  app.add_flag("--json", json, "Print one JSON object");
  app.add_flag("--quick", quick, "Fewer samples");
  app.add_option("--only", only, "One measurement");
  app.add_option("--peer", peer, "Serve as the peer on this socket")->group("");
  CLI11_PARSE(app, argc, argv);
  if (!peer.empty()) {
    kiln::bench::ServePeer(peer);
  }
  const int code = kiln::bench::Run(only, quick, json);
  (void)std::fflush(stdout);
  std::_Exit(code);  // gRPC's own shutdown may take seconds
}
