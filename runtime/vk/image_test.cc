// SPDX-License-Identifier: MIT
#include "runtime/vk/image.h"

#include <gtest/gtest.h>

namespace kiln::vk {
namespace {

TEST(ImageFlags, ByView) {
  const struct {
    VkImageViewType view;
    VkImageCreateFlags flags;
  } rows[] = {{VK_IMAGE_VIEW_TYPE_2D, 0},
              {VK_IMAGE_VIEW_TYPE_2D_ARRAY, 0},
              {VK_IMAGE_VIEW_TYPE_3D, 0},
              {VK_IMAGE_VIEW_TYPE_CUBE, VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT},
              {VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT}};
  for (const auto& row : rows) {
    EXPECT_EQ(CreateFlagsFor(row.view), row.flags) << row.view;
  }
}

}  // namespace
}  // namespace kiln::vk
