// SPDX-License-Identifier: MIT
// What a pack holds: the points of its programs, for the targets that each point names.
#include "server/compile/pack/pack_plan.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "server/compile/batch/test_batch.h"

namespace kiln::compile {
namespace {

resolve::OptionSetting Taps(uint32_t value) {
  return {.name = "taps", .scope = {}, .kind = ir::OptionKind::kUint, .bits = value, .text = {}};
}

class PackPlanTest : public testing::Test {
 protected:
  // A program for the targets "first" and "second".
  static BatchProgram Program(const std::string& text) {
    BatchProgram program;
    FromText(program, "small", text, "first");
    program.targets.push_back(program.targets[0]);
    program.targets[1].name = "second";
    program.targets[1].target = target::MakeTarget(target::Environment::kVulkan12);
    return program;
  }

  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{64} << 20}};
  SystemClock clock;
  ProgramPool pool{store, uint64_t{16} << 20};
  CachedBuild builder{store, pool, clock};
};

TEST_F(PackPlanTest, ExplicitVariantWithTargets_IsPackedForThese) {
  BatchProgram program =
      Program("global taps: uint 1;\nconditional (taps > 2u) setting cull_mode = \"back\";\n");
  program.space.variants = {{Taps(1)}, {Taps(5)}, {Taps(6)}};
  program.space.warm = {false, false, false};
  program.space.variant_targets = {{}, {1}, {0, 1}};
  program.space.only_explicit = true;
  const Result<std::vector<PackProgram>> programs =
      PackProgramsOf(builder, BatchOf(std::move(program)), clock, {});
  ASSERT_TRUE(programs.ok()) << programs.error().context;
  const std::vector<PackPoint>& points = programs->at(0).points;
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].targets, std::vector<size_t>());
  EXPECT_EQ(points[1].targets, (std::vector<size_t>{1}));
  EXPECT_EQ(points[2].targets, (std::vector<size_t>{0, 1}));
}

// Display only, but who looks at it must not be sent back.
TEST_F(PackPlanTest, Progress_NeverGoesBack) {
  PackProgram packed;
  const BatchProgram from = Program("global taps: uint 1;\nsetting cull_mode = \"back\";\n");
  for (const NamedTarget& target : from.targets) {
    packed.targets.push_back(*builder.Prepare(from.program, target, {}));
  }
  for (uint32_t i = 0; i < 2048; ++i) {
    packed.points.push_back({.options = {Taps(i)}, .warm = {}, .targets = {}});
  }
  std::vector<uint64_t> seen;
  const PackProgress progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, 2048u);
    seen.push_back(done);
  };
  ASSERT_TRUE(PlanPack(builder, store, std::span(&packed, 1), progress, {}).ok());
  EXPECT_EQ(seen, (std::vector<uint64_t>{511, 1023, 1535, 2047, 2048}));
}

}  // namespace
}  // namespace kiln::compile
