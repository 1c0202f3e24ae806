// SPDX-License-Identifier: MIT
#include "examples/demo/engine/meshes.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "examples/demo/engine/math.h"

namespace kiln::demo {
namespace {

const std::vector<float>& Floats(const Mesh& mesh, const std::string& name) {
  return std::get<std::vector<float>>(mesh.streams.at(name).values);
}

Vec3 At(const Mesh& mesh, const std::string& name, uint32_t vertex) {
  const uint32_t components = mesh.streams.at(name).components;
  const float* const first = Floats(mesh, name).data() + size_t{vertex} * components;
  return {first[0], first[1], first[2]};
}

void ExpectSound(const Mesh& mesh) {
  for (const auto& [name, stream] : mesh.streams) {
    const size_t values = std::visit([](const auto& v) { return v.size(); }, stream.values);
    EXPECT_EQ(values, size_t{mesh.vertex_count} * stream.components) << name;
  }
  ASSERT_EQ(mesh.indices.size() % 3, 0U);
  ASSERT_FALSE(mesh.indices.empty());
  EXPECT_LT(*std::ranges::max_element(mesh.indices), mesh.vertex_count);
}

// Clockwise from outside: the cross product of the edges points against the normal.
void ExpectClockwiseAndUnit(const Mesh& mesh) {
  ExpectSound(mesh);
  for (size_t i = 0; i < mesh.indices.size(); i += 3) {
    const Vec3 a = At(mesh, "position", mesh.indices[i]);
    const Vec3 b = At(mesh, "position", mesh.indices[i + 1]);
    const Vec3 c = At(mesh, "position", mesh.indices[i + 2]);
    EXPECT_LT(Dot(Cross(b - a, c - a), At(mesh, "normal", mesh.indices[i])), 0) << i;
  }
  for (uint32_t vertex = 0; vertex < mesh.vertex_count; ++vertex) {
    const Vec3 normal = At(mesh, "normal", vertex);
    const Vec3 tangent = At(mesh, "tangent", vertex);
    EXPECT_NEAR(Dot(normal, normal), 1, 1e-4F);
    EXPECT_NEAR(Dot(tangent, tangent), 1, 1e-4F);
    EXPECT_NEAR(Dot(normal, tangent), 0, 1e-4F);
  }
}

TEST(Meshes, Solids_WindClockwiseWithUnitNormalsAndTangents) {
  ExpectClockwiseAndUnit(Sphere(0.7F));
  ExpectClockwiseAndUnit(Cube(1));
  ExpectClockwiseAndUnit(Ground(10));
  ExpectClockwiseAndUnit(Column(0.4F, 2, 5));
}

TEST(Meshes, Flat_AreSound) {
  ExpectSound(ScreenTriangle());
  ExpectSound(TextLine(4));
}

TEST(Meshes, ColumnWeights_SumToOneOverItsJoints) {
  const Mesh mesh = Column(0.4F, 2, 5);
  const auto& joints = std::get<std::vector<uint32_t>>(mesh.streams.at("joints").values);
  const std::vector<float>& weights = Floats(mesh, "weights");
  for (uint32_t vertex = 0; vertex < mesh.vertex_count; ++vertex) {
    float sum = 0;
    for (size_t i = 0; i < 4; ++i) {
      sum += weights[size_t{vertex} * 4 + i];
      EXPECT_LT(joints[size_t{vertex} * 4 + i], 5U);
    }
    EXPECT_NEAR(sum, 1, 1e-5F);
  }
}

TEST(Meshes, GroundWeights_SumToOneAndUseBothLayers) {
  const Mesh mesh = Ground(30);
  const std::vector<float>& weights = Floats(mesh, "layer_weights");
  float most = 0;
  for (size_t i = 0; i < weights.size(); i += 4) {
    EXPECT_NEAR(weights[i] + weights[i + 1], 1, 1e-5F);
    most = std::max(most, weights[i + 1]);
  }
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace kiln::demo
