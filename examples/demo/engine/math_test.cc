// SPDX-License-Identifier: MIT
#include "examples/demo/engine/math.h"

#include <gtest/gtest.h>

namespace kiln::demo {
namespace {

std::array<float, 4> Transform(const Mat4& m, std::array<float, 4> v) {
  std::array<float, 4> out{};
  for (size_t row = 0; row < 4; ++row) {
    for (size_t column = 0; column < 4; ++column) {
      out[row] += m.items[column * 4 + row] * v[column];
    }
  }
  return out;
}

TEST(Math, Perspective_MapsNearToZeroAndFarToOneWithYUp) {
  const Mat4 clip = Perspective(kPi / 2, 2.0F, 0.5F, 10.0F);
  const auto near = Transform(clip, {0, 0.5F, -0.5F, 1});
  EXPECT_NEAR(near[2] / near[3], 0, 1e-6F);
  EXPECT_NEAR(near[1] / near[3], 1, 1e-6F);
  const auto far = Transform(clip, {20, 0, -10, 1});
  EXPECT_NEAR(far[2] / far[3], 1, 1e-6F);
  EXPECT_NEAR(far[0] / far[3], 1, 1e-6F);
}

TEST(Math, InversePerspective_UndoesIt) {
  const Mat4 both = InversePerspective(0.7F, 1.6F, 0.1F, 80) * Perspective(0.7F, 1.6F, 0.1F, 80);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(both.items[i], i % 5 == 0 ? 1 : 0, 1e-3F) << i;
  }
}

TEST(Math, Orthographic_MapsItsBoxToClipSpace) {
  const Mat4 clip = Orthographic(4, 1, 9);
  EXPECT_NEAR(Transform(clip, {4, 0, -1, 1})[0], 1, 1e-6F);
  EXPECT_NEAR(Transform(clip, {0, 0, -1, 1})[2], 0, 1e-6F);
  EXPECT_NEAR(Transform(clip, {0, -4, -9, 1})[1], -1, 1e-6F);
  EXPECT_NEAR(Transform(clip, {0, 0, -9, 1})[2], 1, 1e-6F);
}

TEST(Math, ViewFromWorld_PutsTheTargetAheadAndUpAbove) {
  const Vec3 eye = {3, 2, 5};
  const ViewAxes axes = LookAxes(eye, {0, 0, 0});
  const Mat4 view = ViewFromWorld(eye, axes);
  const auto target = Transform(view, {0, 0, 0, 1});
  EXPECT_NEAR(target[0], 0, 1e-5F);
  EXPECT_NEAR(target[1], 0, 1e-5F);
  EXPECT_NEAR(target[2], -std::sqrt(38.0F), 1e-4F);
  EXPECT_GT(Transform(view, {0, 1, 0, 1})[1], 0);
}

TEST(Math, Rotations_TurnCounterClockwiseSeenFromTheirAxis) {
  const auto y = Transform(RotationY(kPi / 2), {0, 0, 1, 0});
  EXPECT_NEAR(y[0], 1, 1e-6F);
  const auto z = Transform(RotationZ(kPi / 2), {1, 0, 0, 0});
  EXPECT_NEAR(z[1], 1, 1e-6F);
}

}  // namespace
}  // namespace kiln::demo
