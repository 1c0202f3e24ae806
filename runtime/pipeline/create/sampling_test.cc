// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/sampling.h"

#include <gtest/gtest.h>

#include "runtime/pipeline/sample_metadata.h"

namespace kiln::runtime {
namespace {

TEST(CanFilterAll, DepthImagesThatAreNotFiltered_SayNo) {
  for (const bool depth_image : {false, true}) {
    for (const bool filtered : {false, true}) {
      PipelineMetadata metadata = SampleMetadata();
      metadata.sets[1].images[0].type =
          depth_image ? artifact::ImageType::kDepth2d : artifact::ImageType::kColor2d;
      DeviceCaps caps = AbleDevice();
      caps.formats[VK_FORMAT_D32_SFLOAT].optimalTilingFeatures |=
          filtered ? VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT : 0;
      const auto desc = DescFrom("rock", metadata, SampleSignature());
      EXPECT_EQ(CanFilterAll(*desc, caps), filtered || !depth_image);
    }
  }
}

}  // namespace
}  // namespace kiln::runtime
