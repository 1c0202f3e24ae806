// SPDX-License-Identifier: MIT
#include "runtime/pipeline/device_requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/artifact/metadata_json.h"
#include "runtime/pipeline/memory_source.h"
#include "runtime/vk/enable_feature.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;

class Requirements : public ::testing::Test {
 protected:
  // A compute pipeline that needs these.
  void Add(const std::string& program, const std::vector<std::string>& features,
           const std::vector<std::string>& extensions) {
    const auto list = [](const std::vector<std::string>& names) {
      return names.empty() ? std::string("[]")
                           : fmt::format("[\"{}\"]", fmt::join(names, "\", \""));
    };
    const auto metadata = artifact::MetadataFromJson(fmt::format(
        R"({{"pipelineType": "compute", "requiredFeatures": {}, "requiredExtensions": {}}})",
        list(features), list(extensions)));
    ASSERT_TRUE(metadata.ok()) << ErrorText(metadata.error());
    AddBytes(program, std::string(AsText(*metadata)));
  }
  void AddBytes(const std::string& program, const std::string& bytes) {
    const ByteView view = AsBytes(bytes);
    ASSERT_TRUE(source.AddBytes(DigestOf(view), Bytes(view.begin(), view.end())).ok());
    source.AddArtifact({.program = program, .metadata = DigestOf(view), .code = {}}, {});
  }
  static std::vector<std::string> Lines(const std::vector<DeviceNeed>& needs) {
    std::vector<std::string> lines;
    for (const DeviceNeed& need : needs) {
      lines.push_back(need.name + " of '" + need.program + "'");
    }
    return lines;
  }

  MemorySource source;
};

TEST_F(Requirements, ManyPrograms_AreUnitedWithTheFirstThatNeedsEach) {
  Add("rock", {"shader_float16", "wide_lines"}, {"VK_EXT_mesh_shader"});
  Add("fog", {"shader_float16", "timeline_semaphore"}, {"VK_EXT_mesh_shader", "VK_KHR_ray_query"});
  const auto needs = RequirementsOf(source);
  ASSERT_TRUE(needs.ok()) << ErrorText(needs.error());
  EXPECT_THAT(
      Lines(needs->features),
      ElementsAre("dynamic_rendering of ''", "shader_float16 of 'rock'", "synchronization2 of ''",
                  "timeline_semaphore of ''", "wide_lines of 'rock'"));
  EXPECT_THAT(Lines(needs->extensions),
              ElementsAre("VK_EXT_mesh_shader of 'rock'", "VK_KHR_ray_query of 'fog'"));
}

TEST_F(Requirements, EmptySource_NeedsWhatKilnNeeds) {
  const auto needs = RequirementsOf(source);
  ASSERT_TRUE(needs.ok());
  vk::FeatureChain features;
  ASSERT_TRUE(EnableFeatures(*needs, features).ok());
  EXPECT_EQ(vk::FeatureNames(features),
            std::vector<std::string>(vk::NeededFeatures().begin(), vk::NeededFeatures().end()));
}

TEST_F(Requirements, FeatureOfALaterVersion_ChangesNothingAndIsNamed) {
  Add("rock", {"telepathy", "wide_lines"}, {});
  vk::FeatureChain features;
  const Result<void> enabled = EnableFeatures(*RequirementsOf(source), features);
  ASSERT_FALSE(enabled.ok());
  EXPECT_EQ(ErrorText(enabled.error()),
            "UNIMPLEMENTED (UNKNOWN_FEATURE): program 'rock' needs the device feature 'telepathy', "
            "which this version of kiln does not know");
  EXPECT_THAT(vk::FeatureNames(features), ElementsAre());
}

TEST_F(Requirements, DamagedMetadata_IsAnErrorWithTheProgram) {
  AddBytes("rock", "\xff");
  const auto needs = RequirementsOf(source);
  ASSERT_FALSE(needs.ok());
  EXPECT_EQ(needs.error().reason, "METADATA_INVALID");
  EXPECT_THAT(needs.error().context, ::testing::StartsWith("rock: "));
}

}  // namespace
}  // namespace kiln::runtime
