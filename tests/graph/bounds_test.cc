// SPDX-License-Identifier: MIT
// Both bounds on barriers, and the peak of memory, against brute force over all orders and point
// sets of small frames. Works on the file's description and shares nothing with the planner.
#include <algorithm>
#include <climits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "runtime/graph/formats.h"
#include "runtime/graph/graph_file.h"
#include "runtime/graph/planner.h"
#include "tests/integration/full_run.h"
#include "tests/support/random_frame.h"

namespace kiln::graph {
namespace {

// A use of a chain, in the order of one schedule.
struct Touch {
  int position;
  bool write;
  VkImageLayout layout;
};

VkImageLayout LayoutOf(const FileAccess& access) {
  const Accesses a = access.access.accesses;
  if ((a & (VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT)) != 0) {
    return VK_IMAGE_LAYOUT_GENERAL;
  }
  return (a & VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT) != 0
             ? VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
             : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
}

struct Model {
  const FrameDescription& frame;
  std::map<std::string, std::string> root;  // version: chain
  std::map<std::string, size_t> maker;
  std::map<std::string, size_t> killer;
  std::set<std::pair<size_t, size_t>> edges;

  explicit Model(const FrameDescription& description) : frame(description) {
    for (size_t i = 0; i < frame.passes.size(); ++i) {
      for (const FileAccess& create : frame.passes[i].creates) {
        maker[create.resource] = i;
        root[create.resource] = create.resource;
      }
      for (const FileAccess& write : frame.passes[i].writes) {
        maker[write.result] = i;
        killer[write.resource] = i;
        root[write.result] = root[write.resource];
      }
    }
    for (size_t i = 0; i < frame.passes.size(); ++i) {
      for (const FileAccess& read : frame.passes[i].reads) {
        edges.emplace(maker[read.resource], i);
        if (killer.count(read.resource) != 0) {
          edges.emplace(i, killer[read.resource]);
        }
      }
      for (const FileAccess& write : frame.passes[i].writes) {
        edges.emplace(maker[write.resource], i);
      }
    }
  }

  bool Valid(const std::vector<size_t>& order) const {
    std::vector<size_t> place(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
    }
    return std::all_of(edges.begin(), edges.end(), [&](const auto& e) {
      return e.first == e.second || place[e.first] < place[e.second];
    });
  }

  std::map<std::string, std::vector<Touch>> Touches(const std::vector<size_t>& order) const {
    std::map<std::string, std::vector<Touch>> out;
    for (size_t i = 0; i < order.size(); ++i) {
      const FilePass& pass = frame.passes[order[i]];
      const auto add = [&](const FileAccess& access, bool write) {
        out[root.at(access.resource)].push_back({static_cast<int>(i), write, LayoutOf(access)});
      };
      for (const FileAccess& access : pass.reads) {
        add(access, false);
      }
      for (const FileAccess& access : pass.creates) {
        add(access, true);
      }
      for (const FileAccess& access : pass.writes) {
        add(access, true);
      }
    }
    return out;
  }

  // What must have a barrier in (lo, hi].
  std::vector<std::pair<int, int>> Intervals(const std::vector<size_t>& order) const {
    std::vector<std::pair<int, int>> out;
    for (const auto& [chain, touches] : Touches(order)) {
      int last = -1;
      for (size_t i = 0; i < touches.size(); ++i) {
        const bool needs = i == 0 || touches[i].write || touches[i - 1].write ||
                           touches[i].layout != touches[i - 1].layout;
        if (needs) {
          out.emplace_back(last, touches[i].position);
        }
        last = touches[i].position;
      }
    }
    return out;
  }

  // The fewest points, over all sets of points.
  int FewestPoints(const std::vector<size_t>& order) const {
    const auto intervals = Intervals(order);
    int best = INT_MAX;
    for (unsigned set = 0; set < 1U << order.size(); ++set) {
      const bool stabs = std::all_of(intervals.begin(), intervals.end(), [&](const auto& interval) {
        for (int t = interval.first + 1; t <= interval.second; ++t) {
          if ((set >> t & 1) != 0) {
            return true;
          }
        }
        return false;
      });
      best = stabs ? std::min(best, __builtin_popcount(set)) : best;
    }
    return best;
  }

  uint64_t Peak(const std::vector<size_t>& order) const {
    const auto touches = Touches(order);
    uint64_t peak = 0;
    for (int position = 0; position < static_cast<int>(order.size()); ++position) {
      uint64_t sum = 0;
      for (const FileResource& resource : frame.resources) {
        const auto found = touches.find(resource.name);
        if (found == touches.end()) {
          continue;
        }
        int last = found->second.back().position;
        for (const std::string& output : frame.outputs) {
          last = root.at(output) == resource.name ? static_cast<int>(order.size()) - 1 : last;
        }
        if (found->second.front().position <= position && position <= last) {
          sum += (TexelBytes(resource.texture) + 255) / 256 * 256;
        }
      }
      peak = std::max(peak, sum);
    }
    return peak;
  }
};

std::vector<size_t> OrderOf(const Plan& plan) {
  std::vector<size_t> out;
  for (const PlanPass& pass : plan.order) {
    out.push_back(pass.pass);
  }
  return out;
}

bool ReadInTwoLayouts(const FrameDescription& frame) {
  std::map<std::string, VkImageLayout> layouts;
  for (const FilePass& pass : frame.passes) {
    for (const FileAccess& read : pass.reads) {
      const auto [at, added] = layouts.emplace(read.resource, LayoutOf(read));
      if (!added && at->second != LayoutOf(read)) {
        return true;
      }
    }
  }
  return false;
}

TEST(Bounds, SmallFrames_AgreeWithBruteForce) {
  const uint64_t rounds = static_cast<uint64_t>(tests::Rounds(150, 3'000));
  int compared = 0;
  for (uint64_t seed = 1; seed <= rounds; ++seed) {
    FrameDescription frame = test::RandomFrame(
        seed, {.min_passes = 2, .max_passes = seed % 8 == 0 ? 7U : 6U, .plain = true});
    frame.frames = 1;
    const Model model(frame);
    std::vector<size_t> order(frame.passes.size());
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    int fewest = INT_MAX;
    do {
      if (model.Valid(order)) {
        fewest = std::min(fewest, model.FewestPoints(order));
      }
    } while (std::next_permutation(order.begin(), order.end()));
    if (fewest == INT_MAX) {
      continue;  // a cycle
    }
    Graph graph;
    FrameFile(frame).Declare(graph);
    TexelModel texels;
    Planner planner(texels);
    for (const Order mode : {Order::kPriority, Order::kDeclared, Order::kLevels}) {
      const auto plan = planner.Compile(graph, {.order = mode, .cull = false}, Carried{});
      ASSERT_TRUE(plan.ok()) << plan.error().context;
      const PlanMetrics& metrics = (*plan)->metrics;
      const std::vector<size_t> chosen = OrderOf(**plan);
      EXPECT_TRUE(model.Valid(chosen)) << "seed " << seed;
      EXPECT_EQ(metrics.needed, static_cast<uint32_t>(model.FewestPoints(chosen)))
          << "seed " << seed;
      EXPECT_EQ(metrics.all.peak_live, model.Peak(chosen)) << "seed " << seed;
      EXPECT_GE(metrics.all.allocated, metrics.all.peak_live);
      EXPECT_GE(metrics.commands, metrics.needed);
      EXPECT_LE(metrics.chain, static_cast<uint32_t>(fewest)) << "seed " << seed;
      if (!ReadInTwoLayouts(frame)) {
        EXPECT_EQ(metrics.chain, static_cast<uint32_t>(fewest)) << "seed " << seed;
        if (mode == Order::kLevels) {
          EXPECT_EQ(metrics.needed, metrics.chain) << "seed " << seed;
        }
      }
    }
    ++compared;
  }
  EXPECT_GT(compared, static_cast<int>(rounds) / 2);
}

// The packers reach the peak of their epochs, or say by how much they miss it.
// Textures and buffers, which never share a block, and some that are kept for the next frame.
FrameDescription MixedFrame(uint64_t seed, uint32_t passes) {
  test::Random random(seed);
  constexpr VkFormat kFormats[] = {VK_FORMAT_R8_UNORM, VK_FORMAT_R8G8B8A8_UNORM,
                                   VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT};
  FrameDescription frame{.frames = 3, .resources = {}, .passes = {}, .outputs = {}};
  std::vector<FileAccess> alive;  // reads of what later passes may want
  for (uint32_t i = 0; i < passes; ++i) {
    FilePass pass{.name = "p" + std::to_string(i), .kind = PassKind::kCompute};
    for (uint32_t reads = random.Below(4); reads > 0 && !alive.empty(); --reads) {
      const FileAccess& read = alive[random.Below(static_cast<uint32_t>(alive.size()))];
      const bool twice = std::ranges::count(pass.reads, read.resource, &FileAccess::resource) > 0;
      if (!twice) {
        pass.reads.push_back(read);
      }
    }
    for (uint32_t creates = 1 + random.Below(2); creates > 0; --creates) {
      FileResource resource{.name = "r" + std::to_string(frame.resources.size())};
      FileAccess read{.resource = resource.name};
      read.access.stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
      FileAccess create = read;
      create.access.accesses = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
      create.temporal = random.Chance(3);
      if (random.Chance(60)) {
        const uint32_t width = 256U << random.Below(4);
        resource.texture = {.format = kFormats[random.Below(4)], .size = {width, width, 1}};
        read.access.accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT;
      } else {
        resource.kind = ResourceKind::kBuffer;
        resource.buffer.size = 4096U << random.Below(14);
        read.access.accesses = VK_ACCESS_2_SHADER_STORAGE_READ_BIT;
      }
      resource.described = true;
      frame.resources.push_back(resource);
      pass.creates.push_back(std::move(create));
      alive.push_back(std::move(read));
    }
    std::erase_if(alive, [&](const FileAccess&) { return random.Chance(12); });
    frame.passes.push_back(std::move(pass));
  }
  return frame;
}

// Images and buffers never share a block, so no plan needs less than the peaks of both.
TEST(Packing, MixedFrames_ReachNineTenthsOfThePeaksWithinTheBudget) {
  TexelModel texels;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    FrameFile file(MixedFrame(seed, 1000));
    Graph graph;
    Planner planner(texels);
    Carried carried;
    std::vector<uint32_t> objects;
    for (uint32_t frame = 0; frame < file.description().frames; ++frame) {
      file.Declare(graph);
      const auto plan = planner.Compile(graph, {.cull = false}, carried);
      ASSERT_TRUE(plan.ok()) << plan.error().context;
      const PlanMetrics& metrics = (*plan)->metrics;
      const double bound =
          static_cast<double>(metrics.images.peak_live + metrics.buffers.peak_live);
      EXPECT_GE(bound / static_cast<double>(metrics.all.allocated), 0.90)
          << "seed " << seed << ", frame " << frame;
      EXPECT_GE(metrics.efficiency(), 0.85) << "seed " << seed << ", frame " << frame;
      EXPECT_LE(metrics.commands, metrics.needed * 1.2 + 1) << "seed " << seed;
      BindObjects(**plan, carried, objects);
      Commit(**plan, graph.rows().frame, objects, carried);
    }
  }
}

TEST(Packing, TypicalFrames_ReachTheirClassesEfficiency) {
  struct Class {
    uint32_t passes;
    uint32_t frames;
  };
  constexpr Class kClasses[] = {{15, 60}, {40, 60}, {100, 40}, {250, 12}};
  TexelModel texels;
  for (const Class& row : kClasses) {
    double sum = 0;
    double worst = 1;
    double added = 0;
    for (uint32_t frame = 0; frame < row.frames; ++frame) {
      Graph graph;
      test::TypicalFrame typical = test::MakeTypicalFrame(row.passes * 1000 + frame, row.passes);
      test::Declare(typical, graph);
      Planner planner(texels);
      const auto plan = planner.Compile(graph, {.cull = false}, Carried{});
      ASSERT_TRUE(plan.ok()) << plan.error().context;
      const PlanMetrics& metrics = (*plan)->metrics;
      sum += metrics.efficiency();
      worst = std::min(worst, metrics.efficiency());
      added += metrics.alias_added();
      EXPECT_LE(metrics.commands, metrics.needed * 1.2 + 1);
    }
    RecordProperty("mean", std::to_string(sum / row.frames));
    EXPECT_GE(sum / row.frames, 0.95) << row.passes << " passes";
    EXPECT_GE(worst, 0.85) << row.passes << " passes";
    EXPECT_LE(added / row.frames, 1.5) << row.passes << " passes";
  }
}

}  // namespace
}  // namespace kiln::graph
