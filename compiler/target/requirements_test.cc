// SPDX-License-Identifier: MIT
#include "compiler/target/requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::target {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Needs kAll =
    BitOf(Need::kShader) | BitOf(Need::kFloat16) | BitOf(Need::kShaderNonUniform) |
    BitOf(Need::kSampledImageArrayNonUniformIndexing) | BitOf(Need::kStorageBufferClass);

TEST(Requirements, Features_AreSortedAndIndependentOfVersions) {
  EXPECT_THAT(FeaturesOf(kAll),
              ElementsAre("shader_float16", "shader_sampled_image_array_non_uniform_indexing"));
  EXPECT_THAT(FeaturesOf(BitOf(Need::kShader)), IsEmpty());
}

TEST(Requirements, Extensions_EndWhereTheyBecameCore) {
  EXPECT_THAT(DeviceExtensionsOf(kAll, Environment::kVulkan10),
              ElementsAre("VK_EXT_descriptor_indexing", "VK_KHR_shader_float16_int8",
                          "VK_KHR_storage_buffer_storage_class"));
  EXPECT_THAT(DeviceExtensionsOf(kAll, Environment::kVulkan11),
              ElementsAre("VK_EXT_descriptor_indexing", "VK_KHR_shader_float16_int8"));
  EXPECT_THAT(DeviceExtensionsOf(kAll, Environment::kVulkan12), IsEmpty());
}

}  // namespace
}  // namespace kiln::target
