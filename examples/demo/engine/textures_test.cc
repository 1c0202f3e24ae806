// SPDX-License-Identifier: MIT
#include "examples/demo/engine/textures.h"

#include <gtest/gtest.h>

namespace kiln::demo {
namespace {

uint8_t Byte(const preview::ImageData& image, size_t level, size_t at) {
  return std::to_integer<uint8_t>(image.levels[level][at]);
}

TEST(Textures, Levels_HalveDownToOneTexel) {
  const preview::ImageData checker = Checker();
  ASSERT_EQ(checker.levels.size(), 9U);
  for (size_t level = 0; level < 9; ++level) {
    EXPECT_EQ(checker.levels[level].size(), size_t{256} * 256 * 4 >> 2 * level);
  }
}

TEST(Textures, LastLevel_IsTheMean) {
  const preview::ImageData normals = BrickNormals();
  EXPECT_NEAR(Byte(normals, 8, 0), 128, 8);  // bumps cancel out
  EXPECT_NEAR(Byte(normals, 8, 1), 128, 8);
  EXPECT_GT(Byte(normals, 8, 2), 200);
}

TEST(Textures, TwiceMade_AreEqual) {
  EXPECT_EQ(Bricks().levels, Bricks().levels);
  EXPECT_EQ(Soil().levels, Soil().levels);
}

TEST(Textures, Holes_HaveBothKindsOfAlpha) {
  const preview::ImageData holes = Holes();
  size_t open = 0;
  for (size_t texel = 0; texel < size_t{256} * 256; ++texel) {
    open += Byte(holes, 0, texel * 4 + 3) < 128 ? 1 : 0;
  }
  EXPECT_GT(open, 256U * 256 / 10);
  EXPECT_LT(open, 256U * 256 / 2);
}

TEST(Textures, Glyphs_AreInsideOnTheStrokeAndOutsideAtTheEdge) {
  const preview::ImageData atlas = GlyphAtlas("KILN");
  ASSERT_EQ(atlas.extent.width, 512U);
  const auto value = [&](size_t x, size_t y) { return Byte(atlas, 0, (y * 512 + x) * 4); };
  EXPECT_GT(value(128 + 64, 64), 140);  // the stem of the I
  EXPECT_LT(value(128 + 4, 64), 100);
  EXPECT_GT(value(256 + 41, 64), 140);  // the stem of the L
  EXPECT_LT(value(256 + 90, 30), 100);
}

}  // namespace
}  // namespace kiln::demo
