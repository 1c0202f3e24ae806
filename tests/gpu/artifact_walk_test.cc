// SPDX-License-Identifier: MIT
// One artifact and one signature make a pipeline, and nothing else is needed: every program of the
// demo over its option space, and every variant of the golden suite that has entry points of a
// pipeline. Each is created and drawn once, under validation and with the debug checks.
// See spec/pso 3.1, 11.5.3
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/driver/option_text.h"
#include "runtime/pipeline/pipelines.h"
#include "tests/golden/runner/golden_case.h"
#include "tests/gpu/validated_device.h"
#include "tests/support/demo_artifacts.h"

namespace kiln {
namespace {

constexpr uint32_t kOfEachProgram = 6;
constexpr std::chrono::minutes kLongest{2};

class ArtifactWalk : public graph::ValidatedDevice {
 protected:
  ArtifactWalk() {
    auto made = runtime::Pipelines::Create(*gpu, {.threads = 1,
                                                  .first_use = runtime::FirstUse::kOn,
                                                  .first_use_timeout = kLongest,
                                                  .debug_checks = runtime::DebugChecks::kOn});
    EXPECT_TRUE(made.ok()) << ErrorText(made.error());
    pipelines = std::move(made).value();
  }
  ~ArtifactWalk() override { pipelines.reset(); }

  void Add(const BuiltArtifact& built) {
    const runtime::PassSignature signature = runtime::DefaultSignature(built.metadata, gpu->caps());
    const auto id = pipelines->Add(built.name, built.metadata, built.Modules(), signature);
    EXPECT_TRUE(id.ok()) << ErrorText(id.error());
    layouts.emplace(built.metadata.layout_hash, built.metadata.pipeline_type);
    ++added;
  }

  // All of them are there and were drawn; equal layouts are one object.
  void Finish() {
    const auto report = pipelines->Wait(pipelines->Warm({}), kLongest);
    ASSERT_TRUE(report.ok()) << ErrorText(report.error());
    for (const runtime::WarmFailure& failure : report->failures) {
      ADD_FAILURE() << failure.error;
    }
    const runtime::PipelineStats stats = pipelines->Stats();
    EXPECT_EQ(stats.ready + stats.saved, added);
    EXPECT_EQ(report->progress.first_uses, stats.ready);
    EXPECT_LE(stats.pipeline_layouts, layouts.size());
  }

  std::unique_ptr<runtime::Pipelines> pipelines;
  std::set<std::pair<Hash128, artifact::PipelineType>> layouts;  // of the families
  size_t added = 0;
};

TEST_F(ArtifactWalk, Demo_EveryProgramOverItsOptions) {
  const auto demo = DemoArtifacts::Load(KILN_SOURCE_DIR "/examples/demo");
  ASSERT_TRUE(demo.ok()) << ErrorText(demo.error());
  ASSERT_EQ(demo->Programs().size(), 11U);
  for (const std::string& program : demo->Programs()) {
    const auto built = demo->Spread(program, kOfEachProgram);
    ASSERT_TRUE(built.ok()) << ErrorText(built.error());
    for (const BuiltArtifact& one : *built) {
      Add(one);
    }
  }
  EXPECT_GE(added, 50U);
  Finish();
}

resolve::EntryPoint EntryOf(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string stage = text.substr(0, colon);
  return {.stage = stage == "vertex"     ? ir::Stage::kVertex
                   : stage == "fragment" ? ir::Stage::kFragment
                                         : ir::Stage::kCompute,
          .function = text.substr(colon + 1)};
}

// Its variant, if it has all that a pipeline needs and nothing is wrong with it, as with most
// cases.
std::optional<BuiltArtifact> BuiltOf(const golden::GoldenCase& golden) {
  std::vector<resolve::EntryPoint> entries;
  for (const std::string& entry : golden.All("entry")) {
    entries.push_back(EntryOf(entry));
  }
  const bool complete = std::ranges::any_of(entries, [](const resolve::EntryPoint& entry) {
    return entry.stage != ir::Stage::kFragment;
  });
  if (!complete || !golden.skip.empty()) {
    return std::nullopt;
  }
  std::vector<SourceFile> files;
  files.emplace_back(golden.input.filename().string(), golden.source);
  for (const std::string& with : golden.All("with")) {
    files.emplace_back(with, *golden::ReadBytes(golden.input.parent_path() / with));
  }
  const bool compute = entries[0].stage == ir::Stage::kCompute;
  const Diagnosed<driver::LinkedProgram> linked = driver::LinkSources(
      files, compute ? ir::PipelineType::kCompute : ir::PipelineType::kGraphicsClassic);
  if (!linked.ok()) {
    return std::nullopt;
  }
  std::vector<resolve::OptionSetting> settings;
  for (const auto& [key, value] : golden.words) {
    if (key.starts_with("option.")) {
      auto setting = driver::ReadOption(linked.value->program, key.substr(7) + "=" + value);
      if (!setting.ok()) {
        return std::nullopt;
      }
      settings.push_back(std::move(setting).value());
    }
  }
  auto built = BuildArtifact(golden.name, *linked.value, settings, entries);
  return built.ok() ? std::optional(std::move(built).value()) : std::nullopt;
}

TEST_F(ArtifactWalk, GoldenSuite_EveryVariantThatIsOne) {
  const golden::GoldenFolder folder = golden::FindCases(KILN_SOURCE_DIR "/tests/golden");
  EXPECT_THAT(folder.problems, ::testing::IsEmpty());
  for (const golden::GoldenCase& golden : folder.cases) {
    if (const std::optional<BuiltArtifact> built = BuiltOf(golden)) {
      Add(*built);
    }
  }
  EXPECT_GE(added, 10U);
  Finish();
}

}  // namespace
}  // namespace kiln
