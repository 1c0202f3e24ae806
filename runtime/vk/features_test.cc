// SPDX-License-Identifier: MIT
#include "runtime/vk/features.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/vk/enable_feature.h"

namespace kiln::vk {
namespace {

TEST(Features, EveryFeatureOn_NamesAreSortedAndKnown) {
  FeatureChain all;
  for (VkBool32* first = &all.core.features.robustBufferAccess;
       first <= &all.core.features.inheritedQueries; ++first) {
    *first = VK_TRUE;
  }
  for (VkBool32* first = &all.v11.storageBuffer16BitAccess; first <= &all.v11.shaderDrawParameters;
       ++first) {
    *first = VK_TRUE;
  }
  for (VkBool32* first = &all.v12.samplerMirrorClampToEdge;
       first <= &all.v12.subgroupBroadcastDynamicId; ++first) {
    *first = VK_TRUE;
  }
  for (VkBool32* first = &all.v13.robustImageAccess; first <= &all.v13.maintenance4; ++first) {
    *first = VK_TRUE;
  }
  const std::vector<std::string> names = FeatureNames(all);
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_TRUE(std::ranges::all_of(names, IsKnownFeature));
  EXPECT_THAT(names, ::testing::IsSupersetOf(
                         {"depth_bounds", "dynamic_rendering", "fill_mode_non_solid",
                          "independent_blend", "shader_sampled_image_array_non_uniform_indexing",
                          "storage_buffer_16bit_access", "timeline_semaphore"}));
  EXPECT_EQ(FeatureNames(KnownFeatures(all)), names);
}

TEST(Features, OneMember_GivesItsNameAlone) {
  FeatureChain chain;
  chain.v12.shaderSampledImageArrayNonUniformIndexing = VK_TRUE;
  EXPECT_THAT(FeatureNames(chain),
              ::testing::ElementsAre("shader_sampled_image_array_non_uniform_indexing"));
}

TEST(Features, UnknownOnes_AreNotSwitchedOn) {
  FeatureChain chain;
  chain.core.features.sparseBinding = VK_TRUE;
  chain.core.features.wideLines = VK_TRUE;
  const FeatureChain known = KnownFeatures(chain);
  EXPECT_EQ(known.core.features.sparseBinding, VK_FALSE);
  EXPECT_EQ(known.core.features.wideLines, VK_TRUE);
  EXPECT_FALSE(IsKnownFeature("sparse_binding"));
}

TEST(Features, Chain_LinksAllStructures) {
  FeatureChain chain;
  EXPECT_EQ(chain.Chain(), &chain.core);
  EXPECT_EQ(chain.core.pNext, &chain.v11);
  EXPECT_EQ(chain.v11.pNext, &chain.v12);
  EXPECT_EQ(chain.v12.pNext, &chain.v13);
  EXPECT_EQ(chain.v13.pNext, nullptr);
}

TEST(EnableFeature, KnownName_IsSetAlone) {
  FeatureChain features;
  EXPECT_TRUE(EnableFeature(features, "shader_float16"));
  EXPECT_EQ(FeatureNames(features), std::vector<std::string>{"shader_float16"});
  EXPECT_EQ(features.v12.shaderFloat16, VK_TRUE);
  EXPECT_FALSE(EnableFeature(features, "telepathy"));
  EXPECT_FALSE(EnableFeature(features, ""));
  EXPECT_EQ(FeatureNames(features), std::vector<std::string>{"shader_float16"});
}

TEST(NeededFeatures, Names_AreKnown) {
  for (const std::string_view name : NeededFeatures()) {
    EXPECT_TRUE(IsKnownFeature(name)) << name;
  }
}

}  // namespace
}  // namespace kiln::vk
