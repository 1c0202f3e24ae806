// SPDX-License-Identifier: MIT
// What a daemon says of a result, as the runtime takes it. Fetching itself is tested with a daemon
// (startup_fetch_test, demo).
#include "client/engine/fetch_into.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SourceArtifactOf, StagesOfTheDaemon_AreThoseOfTheRuntime) {
  const Digest vertex = DigestOf(std::string("vertex"));
  const Digest fragment = DigestOf(std::string("fragment"));
  const Digest metadata = DigestOf(std::string("metadata"));
  const auto made =
      SourceArtifactOf("rock", {.target = "vk",
                                .code = {{Stage::kVertex, vertex}, {Stage::kFragment, fragment}},
                                .metadata = metadata});
  EXPECT_EQ(made.program, "rock");
  EXPECT_EQ(made.metadata, metadata);
  ASSERT_EQ(made.code.size(), 2u);
  EXPECT_EQ(made.code[0].stage, artifact::Stage::kVertex);
  EXPECT_EQ(made.code[0].digest, vertex);
  EXPECT_EQ(made.code[1].stage, artifact::Stage::kFragment);
  EXPECT_EQ(made.code[1].digest, fragment);
}

TEST(SourceArtifactOf, ComputeAndCombinedModules_KeepTheirStage) {
  const Digest code = DigestOf(std::string("code"));
  const auto compute = SourceArtifactOf("sum", {.code = {{Stage::kCompute, code}}});
  EXPECT_EQ(compute.code.at(0).stage, artifact::Stage::kCompute);
  const auto combined = SourceArtifactOf("all", {.code = {{Stage::kNone, code}}});
  EXPECT_EQ(combined.code.at(0).stage, std::nullopt);
}

TEST(OptionSettingsOf, EveryType_IsKept) {
  const std::vector<Option> options = {
      {"fog", true}, {"lights", 4u}, {"shift", -3}, {"scale", 1.5f}, {"kind", std::string("wet")}};
  EXPECT_THAT(
      OptionSettingsOf(options),
      ElementsAre(runtime::OptionSetting{"fog", true}, runtime::OptionSetting{"lights", 4u},
                  runtime::OptionSetting{"shift", -3}, runtime::OptionSetting{"scale", 1.5f},
                  runtime::OptionSetting{"kind", std::string("wet")}));
  EXPECT_THAT(OptionSettingsOf({}), IsEmpty());
}

}  // namespace
}  // namespace kiln::client
