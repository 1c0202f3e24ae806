// SPDX-License-Identifier: MIT
#include "server/compile/batch/batch_points.h"

#include <string>

#include <gtest/gtest.h>

#include "compiler/base/test_cpu_time.h"
#include "compiler/driver/stages.h"

namespace kiln::compile {
namespace {

constexpr uint64_t kBudget = 100'000;
constexpr int kFlags = 30;  // a thousand million combinations

// Flags f0 to f29 and a number of five values, of which the program mentions the first `live`.
driver::LinkedProgram Program(int live, bool number) {
  std::string text = "global taps: uint 1;\n";
  std::string condition = number ? "taps > 2u" : "false";
  for (int i = 0; i < kFlags; ++i) {
    text += "global f" + std::to_string(i) + ": flag false;\n";
    condition += i < live ? " || f" + std::to_string(i) : "";
  }
  text += "conditional (" + condition + ") setting cull_mode = \"back\";\n";
  const SourceFile source("space.rpl", text);
  return std::move(
      *driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic).value);
}

project::SpaceRequest Space(bool number) {
  project::SpaceRequest request;
  for (int i = 0; i < kFlags; ++i) {
    request.axes.push_back({.name = "f" + std::to_string(i), .all = true, .values = {}});
  }
  if (number) {
    project::Axis axis{.name = "taps", .all = false, .values = {}};
    for (uint32_t i = 0; i < 5; ++i) {
      axis.values.push_back(
          {.name = axis.name, .scope = {}, .kind = ir::OptionKind::kUint, .bits = i, .text = {}});
    }
    request.axes.push_back(axis);
  }
  return request;
}

TEST(BatchPoints, ThousandMillionCombinationsOfTwelveLiveFlags_FourThousandPoints) {
  const driver::LinkedProgram program = Program(12, false);
  FakeClock clock;
  const Duration start = CpuOfThisThread();
  const Result<BatchPoints> points = PointsOf(program, Space(false), {.results = kBudget}, clock);
  EXPECT_LT(CpuOfThisThread() - start, std::chrono::seconds(1));
  ASSERT_TRUE(points.ok());
  EXPECT_EQ(points->variants, uint64_t{1} << kFlags);
  ASSERT_EQ(points->points.size(), 4096u);
  for (size_t i = 0; i < points->points.size(); ++i) {
    EXPECT_EQ(points->points.ServedBy(i), uint64_t{1} << (kFlags - 12));
  }
}

TEST(BatchPoints, ThirtyLiveFlags_RefusedAtOnceWithAxesToCut) {
  const driver::LinkedProgram program = Program(kFlags, true);
  FakeClock clock;
  const Duration start = CpuOfThisThread();
  const Result<BatchPoints> points = PointsOf(program, Space(true), {.results = kBudget}, clock);
  EXPECT_LT(CpuOfThisThread() - start, std::chrono::seconds(1));
  ASSERT_FALSE(points.ok());
  EXPECT_EQ(points.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(points.error().reason, "LIMIT_VARIANTS");
  EXPECT_NE(points.error().context.find("5368709120 distinct results"), std::string::npos)
      << points.error().context;
  EXPECT_NE(points.error().context.find("cut axes, first 'taps' (5 values), 'f0' (2 values)"),
            std::string::npos)
      << points.error().context;
}

}  // namespace
}  // namespace kiln::compile
