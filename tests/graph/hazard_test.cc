// SPDX-License-Identifier: MIT
// Random frames: every plan is free of hazards, and every mistake put into one is found.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/graph/planner.h"
#include "runtime/graph/print_plan.h"
#include "tests/graph/shrink_frame.h"
#include "tests/integration/full_run.h"
#include "tests/support/hazard_oracle.h"
#include "tests/support/random_frame.h"

namespace kiln::graph {
namespace {

using Json = nlohmann::json;
using test::HazardMode;

struct Planned {
  std::vector<Json> frames;
  std::string error;
  std::string file;  // the last frame as a file, if wanted
};

Planned PlanFrames(const FrameDescription& description, const PlanOptions& options,
                   bool want_file = false) {
  Planned out;
  TexelModel model;
  Planner planner(model);
  Graph graph;
  Carried carried;
  std::vector<uint32_t> objects;
  FrameFile file(description);
  for (uint32_t frame = 0; frame < description.frames; ++frame) {
    file.Declare(graph);
    const auto plan = planner.Compile(graph, options, carried);
    if (!plan.ok()) {
      out.error = plan.error().reason + " " + plan.error().context;
      return out;
    }
    out.frames.push_back(Json::parse(PrintPlanRows(**plan, graph)));
    out.file = want_file ? WriteGraphFile(graph) : std::string();
    BindObjects(**plan, carried, objects);
    Commit(**plan, graph.rows().frame, objects, carried);
  }
  return out;
}

using Edges = std::vector<std::set<size_t>>;  // of each pass those that come after it

void AddEdge(size_t from, size_t to, Edges& edges) {
  if (from != to) {
    edges[from].insert(to);
  }
}

// Who makes a version goes before who reads or overwrites it; who reads, before who overwrites.
void AddResourceEdges(const FrameDescription& frame, Edges& edges) {
  std::map<std::string, size_t> maker;
  std::map<std::string, size_t> killer;
  for (size_t i = 0; i < frame.passes.size(); ++i) {
    for (const FileAccess& create : frame.passes[i].creates) {
      maker[create.resource] = i;
    }
    for (const FileAccess& write : frame.passes[i].writes) {
      maker[write.result] = i;
      killer[write.resource] = i;
    }
  }
  const auto after_maker = [&](const std::string& version, size_t pass) {
    if (const auto made = maker.find(version); made != maker.end()) {
      AddEdge(made->second, pass, edges);
    }
  };
  for (size_t i = 0; i < frame.passes.size(); ++i) {
    for (const FileAccess& read : frame.passes[i].reads) {
      after_maker(read.resource, i);
      if (const auto killed = killer.find(read.resource); killed != killer.end()) {
        AddEdge(i, killed->second, edges);
      }
    }
    for (const FileAccess& write : frame.passes[i].writes) {
      after_maker(write.resource, i);
    }
  }
}

// The pass with the smallest signal that is large enough, or the number of passes.
size_t SignallerOf(const FrameDescription& frame, const FileSemaphoreUse& wait, size_t waiter) {
  std::pair<uint64_t, size_t> best = {~uint64_t{0}, frame.passes.size()};
  for (size_t j = 0; j < frame.passes.size(); ++j) {
    for (const FileSemaphoreUse& signal : frame.passes[j].signals) {
      if (signal.semaphore == wait.semaphore && signal.value >= wait.value && j != waiter) {
        best = std::min(best, {signal.value, j});
      }
    }
  }
  return best.second;
}

// A wait follows its signal; signals of a timeline are in order.
void AddSemaphoreEdges(const FrameDescription& frame, Edges& edges) {
  struct Signal {
    std::string semaphore;
    uint64_t value = 0;
    size_t pass = 0;
  };
  std::vector<Signal> signals;
  for (size_t i = 0; i < frame.passes.size(); ++i) {
    for (const FileSemaphoreUse& wait : frame.passes[i].waits) {
      if (const size_t from = SignallerOf(frame, wait, i); from < frame.passes.size()) {
        AddEdge(from, i, edges);
      }
    }
    for (const FileSemaphoreUse& signal : frame.passes[i].signals) {
      signals.push_back({signal.semaphore, signal.value, i});
    }
  }
  for (const Signal& first : signals) {
    for (const Signal& later : signals) {
      if (first.value != 0 && later.semaphore == first.semaphore && later.value > first.value) {
        AddEdge(first.pass, later.pass, edges);
      }
    }
  }
}

// Whether the declarations have a cycle, found without the planner.
bool HasCycle(const FrameDescription& frame) {
  Edges edges(frame.passes.size());
  AddResourceEdges(frame, edges);
  AddSemaphoreEdges(frame, edges);
  enum class Visit { kNever, kOpen, kDone };
  std::vector<Visit> visits(edges.size(), Visit::kNever);
  const auto closes = [&](const auto& self, size_t pass) -> bool {
    visits[pass] = Visit::kOpen;
    for (const size_t other : edges[pass]) {
      if (visits[other] == Visit::kOpen || (visits[other] == Visit::kNever && self(self, other))) {
        return true;
      }
    }
    visits[pass] = Visit::kDone;
    return false;
  };
  for (size_t i = 0; i < edges.size(); ++i) {
    if (visits[i] == Visit::kNever && closes(closes, i)) {
      return true;
    }
  }
  return false;
}

bool HasHazard(const FrameDescription& frame, const PlanOptions& options, HazardMode mode) {
  const Planned planned = PlanFrames(frame, options);
  return planned.error.empty() && !test::FindHazards(planned.frames, mode).empty();
}

// The smallest frame that fails alike, which the next run finds in tests/data/graphs.
std::string KeepSmallest(uint64_t seed, const PlanOptions& options, HazardMode mode) {
  const FrameDescription smallest =
      Shrink(test::RandomFrame(seed),
             [&](const FrameDescription& frame) { return HasHazard(frame, options, mode); });
  std::string file = PlanFrames(smallest, options, true).file;
  std::ofstream(fmt::format("{}/seed_{}.json", KILN_GRAPHS, seed)) << file;
  return file;
}

// One of several parts, which GTEST_TOTAL_SHARDS spreads over processes.
constexpr int kParts = 16;
class RandomFrames : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Part, RandomFrames, testing::Range(0, kParts),
                         testing::PrintToStringParamName());

TEST_P(RandomFrames, HaveNoHazard) {
  const int frames = tests::Rounds(160, 100'000);
  int planned_frames = 0;
  int cycles = 0;
  for (int seed = 1 + GetParam(); seed <= frames; seed += kParts) {
    const FrameDescription frame = test::RandomFrame(static_cast<uint64_t>(seed));
    const PlanOptions options = test::RandomOptions(static_cast<uint64_t>(seed));
    const Planned planned = PlanFrames(frame, options);
    if (!planned.error.empty()) {
      ASSERT_TRUE(planned.error.starts_with("CYCLE")) << "seed " << seed << ": " << planned.error;
      ASSERT_TRUE(HasCycle(frame)) << "seed " << seed << ": " << planned.error;
      ++cycles;
      continue;
    }
    ASSERT_FALSE(HasCycle(frame)) << "seed " << seed;
    ++planned_frames;
    for (const HazardMode mode : {HazardMode::kVulkan, HazardMode::kStrict}) {
      const std::vector<std::string> hazards = test::FindHazards(planned.frames, mode);
      if (!hazards.empty()) {
        FAIL() << "seed " << seed << ": " << hazards.front() << "\nsmallest:\n"
               << KeepSmallest(static_cast<uint64_t>(seed), options, mode);
      }
    }
  }
  EXPECT_GT(planned_frames, 0) << cycles << " cycles";
}

TEST(Planner, FramesThatAreKept_HaveNoHazard) {
  constexpr PlanOptions kOptions[] = {{},
                                      {.order = Order::kDeclared},
                                      {.effort = Effort::kFast, .cull = false},
                                      {.alias = false},
                                      {.unify_reads = true}};
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KILN_GRAPHS)) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    auto frame = ParseFrame(text.str());
    ASSERT_TRUE(frame.ok()) << entry.path();
    frame->frames = 3;
    for (const PlanOptions& options : kOptions) {
      EXPECT_EQ(PlanFrames(*frame, options).error, "") << entry.path();
      EXPECT_FALSE(HasHazard(*frame, options, HazardMode::kVulkan)) << entry.path();
      EXPECT_FALSE(HasHazard(*frame, options, HazardMode::kStrict)) << entry.path();
    }
    ++files;
  }
  EXPECT_GT(files, 0);
}

// A frame whose fault is that somebody samples a large image shrinks to those who make and read it.
TEST(Planner, FramesThatFail_ShrinkToTheirFault) {
  const auto fails = [](const FrameDescription& frame) {
    if (!PlanFrames(frame, {.cull = false}).error.empty()) {
      return false;
    }
    for (const FilePass& pass : frame.passes) {
      for (const FileAccess& read : pass.reads) {
        const bool large = std::any_of(
            frame.resources.begin(), frame.resources.end(), [&](const FileResource& resource) {
              return resource.name == read.resource && resource.texture.size.width >= 4;
            });
        if (large && (read.access.accesses & VK_ACCESS_2_SHADER_SAMPLED_READ_BIT) != 0) {
          return true;
        }
      }
    }
    return false;
  };
  uint64_t seed = 1;
  while (!fails(test::RandomFrame(seed)) || test::RandomFrame(seed).passes.size() < 10) {
    ASSERT_LT(++seed, 100U);
  }
  const FrameDescription smallest = Shrink(test::RandomFrame(seed), fails);
  EXPECT_TRUE(fails(smallest));
  EXPECT_LE(smallest.passes.size(), 2U);
  size_t accesses = 0;
  for (const FilePass& pass : smallest.passes) {
    accesses += pass.reads.size() + pass.creates.size() + pass.writes.size();
  }
  EXPECT_LE(accesses, 2U);
}

// One mistake in a dumped frame. False: there is no place for it.
using Mutate = bool (*)(Json& frame, test::Random& random);

Json* AnyEntry(Json& frame, test::Random& random) {
  std::vector<Json*> entries;
  for (Json& point : frame["points"]) {
    for (Json& entry : point["entries"]) {
      entries.push_back(&entry);
    }
  }
  return entries.empty() ? nullptr : entries[random.Below(static_cast<uint32_t>(entries.size()))];
}

bool DeleteEntry(Json& frame, test::Random& random) {
  Json* entry = AnyEntry(frame, random);
  if (entry == nullptr) {
    return false;
  }
  for (Json& point : frame["points"]) {
    for (size_t i = 0; i < point["entries"].size(); ++i) {
      if (&point["entries"][i] == entry) {
        point["entries"].erase(i);
        return true;
      }
    }
  }
  return false;
}

// First uses of several cells of one chain take over the same bytes, so that the sources of one may
// do for the others.
bool SharesItsSources(const Json& frame, const Json& entry) {
  const bool first = entry["reason"] == "alias" || entry["reason"] == "first_use";
  return first && frame["chains"][entry["chain"].get<size_t>()]["cells"].size() > 1;
}

// A signal makes available what its stages reach, so that later sources need not.
bool Signals(const Json& frame) {
  return std::any_of(frame["batches"].begin(), frame["batches"].end(),
                     [](const Json& batch) { return !batch["signals"].empty(); });
}

bool EmptySourceAccesses(Json& frame, test::Random& random) {
  Json* entry = AnyEntry(frame, random);
  if (entry == nullptr || Signals(frame) || (*entry)["src"][1].empty() ||
      SharesItsSources(frame, *entry)) {
    return false;
  }
  (*entry)["src"][1] = Json::array();
  return true;
}

// Stages in which the pass at the position uses the entry's cells, or bytes that it takes over.
std::set<std::string> StagesAt(const Json& frame, int position, const Json& entry) {
  std::set<std::string> out;
  const Json& chain = frame["chains"][entry["chain"].get<size_t>()];
  for (const Json& pass : frame["passes"]) {
    if (pass["position"] != position) {
      continue;
    }
    for (const Json& access : pass["accesses"]) {
      const size_t used = frame["versions"][access["version"].get<size_t>()]["chain"];
      const Json& other = frame["chains"][used];
      bool meets = false;
      if (used == entry["chain"].get<size_t>()) {
        for (const Json& cell : access["cells"]) {
          meets = meets || std::find(entry["cells"].begin(), entry["cells"].end(), cell) !=
                               entry["cells"].end();
        }
      } else if (chain.contains("address") && other.contains("address") &&
                 chain["class"] == other["class"]) {
        const uint64_t a = chain["address"];
        const uint64_t b = other["address"];
        meets = a < b + other["size"].get<uint64_t>() && b < a + chain["size"].get<uint64_t>();
      }
      for (const Json& pair : meets ? access["pairs"] : Json::array()) {
        out.insert(pair[0].get<std::string>());
      }
    }
  }
  return out;
}

bool RemoveStage(Json& stages, const std::set<std::string>& candidates, test::Random& random) {
  std::vector<size_t> found;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (candidates.count(stages[i].get<std::string>()) != 0) {
      found.push_back(i);
    }
  }
  if (found.empty()) {
    return false;
  }
  stages.erase(found[random.Below(static_cast<uint32_t>(found.size()))]);
  return true;
}

bool RemoveSourceStage(Json& frame, test::Random& random) {
  Json* entry = AnyEntry(frame, random);
  if (entry == nullptr || (*entry)["sources"].empty() || SharesItsSources(frame, *entry)) {
    return false;
  }
  const Json& sources = (*entry)["sources"];
  const int position = sources[random.Below(static_cast<uint32_t>(sources.size()))];
  return RemoveStage((*entry)["src"][0], StagesAt(frame, position, *entry), random);
}

bool RemoveDestinationStage(Json& frame, test::Random& random) {
  Json* entry = AnyEntry(frame, random);
  if (entry == nullptr || (*entry)["reason"] == "visibility") {
    return false;
  }
  Json own = *entry;
  const Json chain = frame["chains"][own["chain"].get<size_t>()];
  std::set<std::string> stages;
  for (const Json& pass : frame["passes"]) {
    for (const Json& access : pass["accesses"]) {
      const size_t used = frame["versions"][access["version"].get<size_t>()]["chain"];
      if (pass["position"] != own["protects"] || used != own["chain"].get<size_t>()) {
        continue;
      }
      for (const Json& cell : access["cells"]) {
        for (const Json& pair : access["pairs"]) {
          if (std::find(own["cells"].begin(), own["cells"].end(), cell) != own["cells"].end()) {
            stages.insert(pair[0].get<std::string>());
          }
        }
      }
    }
  }
  return RemoveStage((*entry)["dst"][0], stages, random);
}

bool ReplaceOldLayout(Json& frame, test::Random& random) {
  Json* entry = AnyEntry(frame, random);
  if (entry == nullptr || (*entry)["old"].is_null() || (*entry)["old"] == (*entry)["new"]) {
    return false;
  }
  (*entry)["old"] = "PREINITIALIZED";
  return true;
}

// Moves an entry to a command of its own outside its interval.
bool MoveEntry(Json& frame, test::Random& random, bool later) {
  Json* entry = AnyEntry(frame, random);
  if (entry == nullptr) {
    return false;
  }
  const int lo = (*entry)["interval"][0];
  const int hi = (*entry)["interval"][1];
  int end = 0;
  for (const Json& pass : frame["passes"]) {
    end = pass["position"].is_null() ? end : pass["position"].get<int>();
  }
  const bool sourced = !(*entry)["sources"].empty();
  if (later ? hi >= end : lo < 0 || !sourced) {
    return false;
  }
  const int to = later ? hi + 1 : lo;
  const Json moved = *entry;
  Json points = Json::array();
  bool placed = false;
  const Json own = {{"before", to}, {"entries", Json::array({moved})}};
  for (Json& point : frame["points"]) {
    if (!placed && point["before"].get<int>() >= to) {
      points.push_back(own);
      placed = true;
    }
    Json kept = {{"before", point["before"]}, {"entries", Json::array()}};
    for (Json& other : point["entries"]) {
      if (&other != entry) {
        kept["entries"].push_back(other);
      }
    }
    points.push_back(std::move(kept));
  }
  if (!placed) {
    points.push_back(own);
  }
  frame["points"] = std::move(points);
  return true;
}

bool MoveLater(Json& frame, test::Random& random) { return MoveEntry(frame, random, true); }
bool MoveEarlier(Json& frame, test::Random& random) { return MoveEntry(frame, random, false); }

bool SwapPasses(Json& frame, test::Random& random) {
  std::vector<std::pair<size_t, size_t>> pairs;
  Json& passes = frame["passes"];
  for (size_t i = 0; i < passes.size(); ++i) {
    for (const Json& access : passes[i]["accesses"]) {
      const Json& version = frame["versions"][access["version"].get<size_t>()];
      for (size_t j = 0; j < i; ++j) {
        const bool def = access["op"] != "create" && version["def"] == passes[j]["declared"];
        if (def && !passes[i]["position"].is_null() && !passes[j]["position"].is_null()) {
          pairs.emplace_back(j, i);
        }
      }
    }
  }
  if (pairs.empty()) {
    return false;
  }
  const auto [a, b] = pairs[random.Below(static_cast<uint32_t>(pairs.size()))];
  std::swap(passes[a], passes[b]);
  std::swap(passes[a]["position"], passes[b]["position"]);
  std::swap(passes[a]["batch"], passes[b]["batch"]);
  return true;
}

bool ShiftPlacement(Json& frame, test::Random& random) {
  std::vector<std::pair<size_t, size_t>> pairs;
  Json& chains = frame["chains"];
  for (size_t a = 0; a < chains.size(); ++a) {
    for (size_t b = 0; b < chains.size(); ++b) {
      const bool both = a != b && chains[a].contains("address") && chains[b].contains("address") &&
                        chains[a]["class"] == chains[b]["class"];
      if (both && chains[a]["first"] <= chains[b]["last"] &&
          chains[b]["first"] <= chains[a]["last"]) {
        pairs.emplace_back(a, b);
      }
    }
  }
  if (pairs.empty()) {
    return false;
  }
  const auto [a, b] = pairs[random.Below(static_cast<uint32_t>(pairs.size()))];
  chains[a]["address"] = chains[b]["address"];
  return true;
}

bool DropWait(Json& frame, test::Random& random) {
  for (Json& batch : frame["batches"]) {
    if (!batch["waits"].empty() && random.Chance(50)) {
      batch["waits"].erase(0);
      return true;
    }
  }
  return false;
}

struct Mutation {
  const char* name;
  Mutate mutate;
};
constexpr Mutation kMutations[] = {
    {"delete entry", DeleteEntry},
    {"empty source accesses", EmptySourceAccesses},
    {"remove source stage", RemoveSourceStage},
    {"remove destination stage", RemoveDestinationStage},
    {"replace old layout", ReplaceOldLayout},
    {"move later", MoveLater},
    {"move earlier", MoveEarlier},
    {"swap passes", SwapPasses},
    {"shift placement", ShiftPlacement},
    {"drop wait", DropWait},
};

TEST(HazardOracle, EveryMistakeInAPlan_IsFound) {
  const int rounds = tests::Rounds(40, 2'000);
  std::map<std::string, int> tried;
  std::map<std::string, int> survived;
  for (int seed = 1; seed <= rounds; ++seed) {
    const FrameDescription frame =
        test::RandomFrame(static_cast<uint64_t>(seed) + 1'000'000, {.max_passes = 24});
    const Planned planned =
        PlanFrames(frame, test::RandomOptions(static_cast<uint64_t>(seed) + 1'000'000));
    if (!planned.error.empty()) {
      continue;
    }
    for (const Mutation& mutation : kMutations) {
      for (uint64_t round = 0; round < 3; ++round) {
        test::Random random(static_cast<uint64_t>(seed) * 8 + round);
        std::vector<Json> frames = planned.frames;
        const uint32_t which = random.Below(static_cast<uint32_t>(frames.size()));
        if (!mutation.mutate(frames[which], random)) {
          continue;
        }
        ++tried[mutation.name];
        if (test::FindHazards(frames, HazardMode::kStrict).empty()) {
          ++survived[mutation.name];
          std::printf(
              "survived: %s, seed %d round %d frame %u\n%s\n", mutation.name, seed,
              static_cast<int>(round), which,
              Json::diff(planned.frames[which], frames[which]).dump().substr(0, 2000).c_str());
        }
      }
    }
  }
  for (const Mutation& mutation : kMutations) {
    EXPECT_GT(tried[mutation.name], rounds / 20) << mutation.name;
    EXPECT_EQ(survived[mutation.name], 0) << mutation.name;
  }
}

// Not one entry of these plans can be left out.
TEST(HazardOracle, DeletingAnyEntry_IsFound) {
  int entries = 0;
  for (uint64_t seed = 1; seed <= static_cast<uint64_t>(tests::Rounds(12, 300)); ++seed) {
    const FrameDescription frame = test::RandomFrame(seed + 5'000, {.max_passes = 14});
    const Planned planned = PlanFrames(frame, {});
    for (size_t f = 0; f < planned.frames.size(); ++f) {
      for (size_t p = 0; p < planned.frames[f]["points"].size(); ++p) {
        for (size_t e = 0; e < planned.frames[f]["points"][p]["entries"].size(); ++e) {
          std::vector<Json> frames = planned.frames;
          const Json entry = frames[f]["points"][p]["entries"][e];
          frames[f]["points"][p]["entries"].erase(e);
          ++entries;
          ASSERT_FALSE(test::FindHazards(frames, HazardMode::kStrict).empty())
              << "seed " << seed << " frame " << f << ": " << entry.dump();
        }
      }
    }
  }
  EXPECT_GT(entries, 100);
}

}  // namespace
}  // namespace kiln::graph
