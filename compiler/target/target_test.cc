// SPDX-License-Identifier: MIT
#include "compiler/target/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/target/capabilities.h"

namespace kiln::target {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Target, EveryEnvironment_ReadsItsOwnText) {
  const struct {
    std::string_view text;
    uint32_t version;
  } rows[] = {{"vulkan1.0", 0x00010000},
              {"vulkan1.1", 0x00010300},
              {"vulkan1.2", 0x00010500},
              {"vulkan1.3", 0x00010600},
              {"vulkan1.4", 0x00010600}};
  for (const auto& row : rows) {
    const auto environment = ParseEnvironment(row.text);
    ASSERT_TRUE(environment) << row.text;
    EXPECT_EQ(EnvironmentText(*environment), row.text);
    EXPECT_EQ(MakeTarget(*environment).spirv_version, row.version);
  }
}

TEST(Target, OtherText_IsNothing) {
  for (const std::string_view text : {"", "vulkan", "vulkan1.5", "Vulkan1.1", "vulkan1.1 "}) {
    EXPECT_FALSE(ParseEnvironment(text)) << text;
  }
  EXPECT_FALSE(ParseDebug("some"));
  EXPECT_EQ(ParseDebug("names"), Debug::kNames);
}

TEST(Capabilities, Needs_AreSortedAndExtensionsOnlyBelowTheirVersion) {
  const Needs needs = BitOf(Need::kSampledImageArrayNonUniformIndexing) |
                      BitOf(Need::kShaderNonUniform) | BitOf(Need::kShader) |
                      BitOf(Need::kStorageBufferClass);
  EXPECT_THAT(CapabilitiesOf(needs), ElementsAre(1u, 5301u, 5307u));
  EXPECT_THAT(ExtensionsOf(needs, SpirvVersion(1, 0)),
              ElementsAre("SPV_EXT_descriptor_indexing", "SPV_KHR_storage_buffer_storage_class"));
  EXPECT_THAT(ExtensionsOf(needs, SpirvVersion(1, 3)), ElementsAre("SPV_EXT_descriptor_indexing"));
  EXPECT_THAT(ExtensionsOf(needs, SpirvVersion(1, 5)), IsEmpty());
}

}  // namespace
}  // namespace kiln::target
