// SPDX-License-Identifier: MIT
// A row for each type of images that metadata have: the descriptor, the view, and what stands in.
#include "runtime/pipeline/create/stand_in.h"

#include <string>

#include <gtest/gtest.h>

#include "runtime/pipeline/create/to_vulkan.h"
#include "runtime/pipeline/sample_metadata.h"

namespace kiln::runtime {
namespace {

using artifact::ImageType;
using artifact::OutputItem;

constexpr VkFormat kColor = VK_FORMAT_R8G8B8A8_UNORM;
constexpr VkFormat kDepth = VK_FORMAT_D32_SFLOAT;
constexpr VkDescriptorType kSampled = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
constexpr VkDescriptorType kStorage = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;

struct Row {
  ImageType type;
  VkDescriptorType descriptor;
  VkImageViewType view = VK_IMAGE_VIEW_TYPE_MAX_ENUM;  // none: a view of a buffer
  VkFormat format = kColor;
  uint32_t layers = 1;
  bool multisampled = false;
};
constexpr Row kRows[] = {
    {ImageType::kColor2d, kSampled, VK_IMAGE_VIEW_TYPE_2D},
    {ImageType::kColor3d, kSampled, VK_IMAGE_VIEW_TYPE_3D},
    {ImageType::kColorCube, kSampled, VK_IMAGE_VIEW_TYPE_CUBE, kColor, 6},
    {ImageType::kColor2dArray, kSampled, VK_IMAGE_VIEW_TYPE_2D_ARRAY},
    {ImageType::kDepth2d, kSampled, VK_IMAGE_VIEW_TYPE_2D, kDepth},
    {ImageType::kDepth3d, kSampled, VK_IMAGE_VIEW_TYPE_3D, VK_FORMAT_R32_SFLOAT},
    {ImageType::kDepthCube, kSampled, VK_IMAGE_VIEW_TYPE_CUBE, kDepth, 6},
    {ImageType::kDepth2dArray, kSampled, VK_IMAGE_VIEW_TYPE_2D_ARRAY, kDepth},
    {ImageType::kStorage2d, kStorage, VK_IMAGE_VIEW_TYPE_2D},
    {ImageType::kStorage3d, kStorage, VK_IMAGE_VIEW_TYPE_3D},
    {ImageType::kStorage2dArray, kStorage, VK_IMAGE_VIEW_TYPE_2D_ARRAY},
    {ImageType::kColor1d, kSampled, VK_IMAGE_VIEW_TYPE_1D},
    {ImageType::kColor1dArray, kSampled, VK_IMAGE_VIEW_TYPE_1D_ARRAY},
    {ImageType::kColorCubeArray, kSampled, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, kColor, 6},
    {ImageType::kColor2dMs, kSampled, VK_IMAGE_VIEW_TYPE_2D, kColor, 1, true},
    {ImageType::kColor2dMsArray, kSampled, VK_IMAGE_VIEW_TYPE_2D_ARRAY, kColor, 1, true},
    {ImageType::kDepth1d, kSampled, VK_IMAGE_VIEW_TYPE_1D, kDepth},
    {ImageType::kDepth1dArray, kSampled, VK_IMAGE_VIEW_TYPE_1D_ARRAY, kDepth},
    {ImageType::kDepthCubeArray, kSampled, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, kDepth, 6},
    {ImageType::kDepth2dMs, kSampled, VK_IMAGE_VIEW_TYPE_2D, kDepth, 1, true},
    {ImageType::kDepth2dMsArray, kSampled, VK_IMAGE_VIEW_TYPE_2D_ARRAY, kDepth, 1, true},
    {ImageType::kStorage1d, kStorage, VK_IMAGE_VIEW_TYPE_1D},
    {ImageType::kStorage1dArray, kStorage, VK_IMAGE_VIEW_TYPE_1D_ARRAY},
    {ImageType::kStorageCube, kStorage, VK_IMAGE_VIEW_TYPE_CUBE, kColor, 6},
    {ImageType::kStorageCubeArray, kStorage, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, kColor, 6},
    {ImageType::kStorage2dMs, kStorage, VK_IMAGE_VIEW_TYPE_2D, kColor, 1, true},
    {ImageType::kStorage2dMsArray, kStorage, VK_IMAGE_VIEW_TYPE_2D_ARRAY, kColor, 1, true},
    {ImageType::kTexelBuffer, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER},
    {ImageType::kStorageTexelBuffer, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER},
};

TEST(StandIn, EveryType_HasItsDescriptorAndView) {
  ASSERT_EQ(std::size(kRows), artifact::NamesOf<ImageType>().size());
  DeviceCaps caps = AbleDevice();
  caps.limits.sampledImageColorSampleCounts = 1 | 4 | 8;
  caps.limits.sampledImageDepthSampleCounts = 1 | 4 | 8;
  caps.limits.storageImageSampleCounts = 1 | 4 | 8;
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(NameOf(row.type)));
    EXPECT_EQ(ToVulkan(row.type), row.descriptor);
    EXPECT_EQ(StandInFormat(row.type, OutputItem::kFloat, VK_FORMAT_UNDEFINED), row.format);
    EXPECT_EQ(IsTexelBuffer(row.descriptor), row.view == VK_IMAGE_VIEW_TYPE_MAX_ENUM);
    if (row.view != VK_IMAGE_VIEW_TYPE_MAX_ENUM) {
      EXPECT_EQ(ViewTypeOf(row.type), row.view);
      EXPECT_EQ(LeastLayers(row.view), row.layers);
    }
    const auto samples = StandInSamples(row.type, OutputItem::kFloat, caps);
    ASSERT_TRUE(samples.ok()) << ErrorText(samples.error());
    EXPECT_EQ(*samples, row.multisampled ? VK_SAMPLE_COUNT_4_BIT : VK_SAMPLE_COUNT_1_BIT);
  }
}

TEST(StandIn, Format_IsThatOfTheShaderOrOfItsItem) {
  EXPECT_EQ(StandInFormat(ImageType::kStorage2d, OutputItem::kFloat, VK_FORMAT_R16G16_SFLOAT),
            VK_FORMAT_R16G16_SFLOAT);
  EXPECT_EQ(StandInFormat(ImageType::kTexelBuffer, OutputItem::kUint, VK_FORMAT_UNDEFINED),
            VK_FORMAT_R8G8B8A8_UINT);
  EXPECT_EQ(StandInFormat(ImageType::kColor2d, OutputItem::kSint, VK_FORMAT_UNDEFINED),
            VK_FORMAT_R8G8B8A8_SINT);
}

TEST(StandIn, DeviceWithOneSample_IsToldOf) {
  DeviceCaps caps = AbleDevice();
  caps.limits.sampledImageIntegerSampleCounts = VK_SAMPLE_COUNT_1_BIT;
  const auto samples = StandInSamples(ImageType::kColor2dMs, OutputItem::kUint, caps);
  ASSERT_FALSE(samples.ok());
  EXPECT_EQ(ErrorText(samples.error()),
            "FAILED_PRECONDITION (UNSUPPORTED): image_color_2d_ms of uint with several samples are "
            "not offered by " +
                caps.device_name);
}

}  // namespace
}  // namespace kiln::runtime
