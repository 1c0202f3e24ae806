// SPDX-License-Identifier: MIT
// daemon_bench: one function of the uber material is edited in a project of 200 files; how long
// from the end of the write, before which no watcher is told, to the bytes of the variant on screen
// at a watching client, through inotify, the client library, the daemon and back. 47 more variants
// follow in the batch lane. How long the write itself took stands beside it.
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "client/hot_reload.h"
#include "client/project/watch.h"
#include "tests/bench/daemon_measures.h"

namespace kiln::bench {
namespace {

constexpr double kGateMs = 20;
constexpr int kOtherFiles = 199;
constexpr size_t kShown = 5;                               // slowest saves, stage by stage
constexpr auto kBetween = std::chrono::milliseconds(260);  // more than makes a burst

// The same source with another constant in one function.
std::string Edited(const std::string& text, int number) {
  const std::string from = "f1 a2 = ";
  const size_t at = text.find(from);
  return at == std::string::npos
             ? text
             : text.substr(0, at + from.size()) + fmt::format("1.{:04} * ", number) +
                   text.substr(at + from.size());
}

std::vector<client::ProgramSpace> Spaces(const std::string& folder, const std::string& uber) {
  client::ProgramSpace space{.program = UberProgram(uber)};
  for (const char* name : {"use_directional", "use_normal_map", "alpha_clip", "use_emissive"}) {
    space.axes.push_back({.name = name, .all = true, .values = {}});
  }
  space.axes.push_back({.name = "max_point_lights"});
  for (const uint32_t count : {1u, 4u, 8u}) {
    space.axes.back().values.push_back({.name = "max_point_lights", .value = count});
  }
  std::vector<client::ProgramSpace> spaces = {std::move(space)};
  for (int i = 0; i < kOtherFiles; ++i) {
    const std::string text = fmt::format(
        "color_output_container target {{ f4 color; }};\n"
        "void v (void) {{ vertex_stage_output_position (f4 {{0.0}}); }}\n"
        "void f (void) {{ target.color = f4 {{{}.0}}; }}\n",
        i);
    const std::string path = fmt::format("materials/{}.rpl", i);
    std::ofstream(std::filesystem::path(folder) / path) << text;
    client::ProgramSpace other;
    other.program = {.name = fmt::format("other/{}", i)};
    other.program.sources.push_back(
        {.path = path, .digest = DigestOf(std::string_view(text)), .text = text});
    other.program.entries = {{client::Stage::kVertex, "v"}, {client::Stage::kFragment, "f"}};
    other.program.targets.push_back({.name = "vk"});
    spaces.push_back(std::move(other));
  }
  return spaces;
}

// When a save got how far; of microseconds, 0: never.
struct Stamps {
  double begun = 0;                 // before the file is written
  double written = 0;               // it is closed
  std::atomic<double> noticed = 0;  // the watcher has read it
  std::atomic<double> pushed = 0;   // it is with gRPC
  double changed = 0;               // the daemon says that a generation begins
  double arrived = 0;               // the bytes of the variant on screen
  double settled = 0;
};

// Reads events until a generation has settled.
void Follow(client::HotReload& reload, const std::string& variant, Stamps& stamps) {
  while (const std::optional<client::WatchEvent> event = reload.Next()) {
    const double now = NowUs();
    if (std::holds_alternative<client::WatchChanged>(event->body)) {
      stamps.changed = now;
    }
    if (const auto* artifact = std::get_if<client::WatchArtifact>(&event->body);
        artifact != nullptr && stamps.arrived == 0 && !artifact->data.empty() &&
        client::OptionsText(artifact->options) == variant) {
      stamps.arrived = now;
    }
    if (std::holds_alternative<client::WatchSettled>(event->body)) {
      stamps.settled = now;
      return;
    }
  }
}

double Ms(double from, double until) { return (until - from) / 1000; }

// What a save waited for, in milliseconds.
Json StagesOf(const Stamps& save) {
  return {{"latency", Ms(save.written, save.arrived)}, {"write", Ms(save.begun, save.written)},
          {"notice", Ms(save.written, save.noticed)},  {"push", Ms(save.noticed, save.pushed)},
          {"take_in", Ms(save.pushed, save.changed)},  {"build", Ms(save.changed, save.arrived)},
          {"rest", Ms(save.arrived, save.settled)}};
}

Json ReportOf(const std::deque<Stamps>& saves, Json& gates) {
  std::vector<double> latencies;
  std::vector<double> writes;
  std::multimap<double, Json, std::greater<>> slowest;
  for (const Stamps& save : saves) {
    if (save.arrived != 0) {
      latencies.push_back(Ms(save.written, save.arrived));
      writes.push_back(Ms(save.begun, save.written));
      slowest.emplace(latencies.back(), StagesOf(save));
    }
  }
  if (latencies.empty()) {
    gates["watch_p99_ms"] = Gate(0, kGateMs, false);
    return {{"error", "no artifact came"}};
  }
  const size_t lost = saves.size() - latencies.size();
  const Percentiles ms = PercentilesOf(latencies);
  gates["watch_p99_ms"] = Gate(ms.p99, kGateMs, ms.p99 <= kGateMs && lost == 0);
  Json stages = Json::array();
  for (const auto& [latency, row] : slowest) {
    if (stages.size() < kShown) {
      stages.push_back(row);
    }
  }
  return {{"edits", latencies.size()},
          {"lost", lost},
          {"latency_ms", ToJson(ms)},
          {"write_ms", ToJson(PercentilesOf(writes))},
          {"slowest_ms", std::move(stages)}};
}

}  // namespace

Json MeasureWatch(const DaemonBench& bench, Json& gates) {
  const std::string folder = bench.folder + "/project";
  std::filesystem::create_directories(folder + "/materials");
  const std::string uber = UberText();
  std::ofstream(folder + "/uber.rpl") << uber;
  std::vector<client::ProgramSpace> spaces = Spaces(folder, uber);
  const auto client = client::Client::Open(bench.address);
  SystemClock clock;
  auto watcher = project::Watcher::Start({.root = folder}, clock);
  std::vector<project::Watcher::KnownFile> files;
  files.reserve(spaces.size());
  for (const client::ProgramSpace& space : spaces) {
    files.push_back({space.program.sources[0].path, space.program.sources[0].digest});
  }
  (*watcher)->SetFiles(files);
  const std::vector<client::Option> on_screen = {{.name = "use_emissive", .value = true},
                                                 {.name = "max_point_lights", .value = 8u}};
  client::HotReload reload(*client,
                           {.project = "bench",
                            .session_id = "bench",
                            .interest = {{.program = "uber", .options = on_screen}}},
                           std::move(spaces));
  const std::string variant = client::OptionsText(on_screen);
  Stamps first;
  Follow(reload, variant, first);
  std::atomic<bool> done{false};
  std::atomic<Stamps*> current{nullptr};
  std::thread pusher([&] {
    while (!done) {
      if (const auto changes = (*watcher)->Wait(std::chrono::seconds(1)); changes.has_value()) {
        Stamps* const stamps = current;
        std::vector<client::Source> changed;
        stamps == nullptr ? void() : stamps->noticed.store(NowUs());
        for (const project::ChangedFile& file : changes->changed) {
          changed.push_back({.path = file.path, .digest = file.digest, .text = file.text});
        }
        reload.Push(changed, changes->removed);
        stamps == nullptr ? void() : stamps->pushed.store(NowUs());
      }
    }
  });
  std::deque<Stamps> saves;  // that the pusher may still write to
  for (int i = 1; i <= (bench.quick ? 20 : 200); ++i) {
    std::this_thread::sleep_for(kBetween);
    const std::string text = Edited(uber, i);
    Stamps& stamps = saves.emplace_back();
    current = &stamps;
    stamps.begun = NowUs();
    std::ofstream(folder + "/uber.rpl", std::ios::binary) << text;
    stamps.written = NowUs();
    Follow(reload, variant, stamps);
  }
  done = true;
  (*watcher)->Wake();
  pusher.join();
  reload.Stop();
  return ReportOf(saves, gates);
}

}  // namespace kiln::bench
