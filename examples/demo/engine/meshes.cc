// SPDX-License-Identifier: MIT
// Meshes of the demo, made by formula, so no files are needed. Each has streams of floats by name;
// how a variant wants them packed is not known here (prepare.cc).
#include "examples/demo/engine/meshes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "examples/demo/engine/math.h"

namespace kiln::demo {
namespace {

// Vertices are only ever added, so an index that was given stays right.
class MeshBuilder {
 public:
  // Tangent along growing u.
  uint32_t Add(Vec3 position, Vec3 normal, float u, float v, Vec3 tangent) {
    Append(positions_, {position.x, position.y, position.z});
    Append(normals_, {normal.x, normal.y, normal.z, 0.0F});
    Append(uvs_, {u, v});
    Append(tangents_, {tangent.x, tangent.y, tangent.z, 1.0F});
    return count_++;
  }

  // Clockwise from outside: in a right-handed space the cross product of the edges points inwards.
  void Triangle(uint32_t a, uint32_t b, uint32_t c) {
    const Vec3 cross = Cross(Position(b) - Position(a), Position(c) - Position(a));
    // A triangle without an area has no side that could be outside.
    if (Dot(cross, cross) < 1e-12F) {
      return;  // at a pole
    }
    const Vec3 outwards = Normal(a) + Normal(b) + Normal(c);
    if (Dot(cross, outwards) > 0) {
      std::swap(b, c);
    }
    indices_.insert(indices_.end(), {a, b, c});
  }

  // Two triangles between four corners; the order does not matter as long as it goes round.
  void Quad(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    Triangle(a, b, c);
    Triangle(a, c, d);
  }

  Mesh Finish() && {
    Mesh mesh;
    mesh.streams["position"] = {3, std::move(positions_)};
    mesh.streams["normal"] = {4, std::move(normals_)};
    mesh.streams["uv"] = {2, std::move(uvs_)};
    mesh.streams["tangent"] = {4, std::move(tangents_)};
    mesh.vertex_count = count_;
    mesh.indices = std::move(indices_);
    return mesh;
  }

 private:
  static void Append(std::vector<float>& out, std::initializer_list<float> values) {
    out.insert(out.end(), values);
  }
  Vec3 Position(uint32_t i) const { return At(positions_, size_t{i} * 3); }
  Vec3 Normal(uint32_t i) const { return At(normals_, size_t{i} * 4); }
  static Vec3 At(const std::vector<float>& from, size_t at) {
    return {from[at], from[at + 1], from[at + 2]};
  }

  std::vector<float> positions_;
  std::vector<float> normals_;
  std::vector<float> uvs_;
  std::vector<float> tangents_;
  std::vector<uint32_t> indices_;
  uint32_t count_ = 0;
};

// Vertices of a grid are added row by row; joins neighbours.
void JoinGrid(MeshBuilder& builder, uint32_t columns, uint32_t rows) {
  const uint32_t pitch = columns + 1;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      const uint32_t a = row * pitch + column;
      builder.Quad(a, a + 1, a + 1 + pitch, a + pitch);
    }
  }
}

float Share(uint32_t i, uint32_t of) { return static_cast<float>(i) / static_cast<float>(of); }

}  // namespace

// The seam is there twice, once with u at 0 and once at 2, since one vertex cannot have both.
Mesh Sphere(float radius) {
  constexpr uint32_t kColumns = 64;
  constexpr uint32_t kRows = 32;
  MeshBuilder builder;
  for (uint32_t row = 0; row <= kRows; ++row) {
    const float down = Share(row, kRows) * kPi;
    for (uint32_t column = 0; column <= kColumns; ++column) {
      const float around = Share(column, kColumns) * 2 * kPi;
      const Vec3 normal = {std::sin(down) * std::cos(around), std::cos(down),
                           std::sin(down) * std::sin(around)};
      builder.Add(normal * radius, normal, Share(column, kColumns) * 2, Share(row, kRows),
                  {-std::sin(around), 0, std::cos(around)});
    }
  }
  JoinGrid(builder, kColumns, kRows);
  return std::move(builder).Finish();
}

Mesh Cube(float half_size) {
  // A face is its normal and the direction of growing u; the third axis follows, so each texture is
  // upright and not mirrored.
  struct Face {
    Vec3 normal;
    Vec3 across;
  };
  constexpr std::array<Face, 6> kFaces = {{{{1, 0, 0}, {0, 0, -1}},
                                           {{-1, 0, 0}, {0, 0, 1}},
                                           {{0, 1, 0}, {1, 0, 0}},
                                           {{0, -1, 0}, {1, 0, 0}},
                                           {{0, 0, 1}, {1, 0, 0}},
                                           {{0, 0, -1}, {-1, 0, 0}}}};
  MeshBuilder builder;
  for (const Face& face : kFaces) {
    // Each face has corners of its own, since normals and texture coordinates differ between faces.
    const Vec3 up = Cross(face.normal, face.across);
    const auto corner = [&](float u, float v) {
      const Vec3 at = face.normal + face.across * (2 * u - 1) + up * (1 - 2 * v);
      return builder.Add(at * half_size, face.normal, u, v, face.across);
    };
    const uint32_t a = corner(0, 0);
    const uint32_t b = corner(1, 0);
    const uint32_t c = corner(1, 1);
    const uint32_t d = corner(0, 1);
    builder.Quad(a, b, c, d);
  }
  return std::move(builder).Finish();
}

// The ground is flat. Its cells only carry the weights of the layers, so 96 by 96 of them are a
// matter of how sharp the path is.
Mesh Ground(float half_size) {
  constexpr uint32_t kCells = 96;
  MeshBuilder builder;
  std::vector<float> weights;
  for (uint32_t row = 0; row <= kCells; ++row) {
    for (uint32_t column = 0; column <= kCells; ++column) {
      const float x = (2 * Share(column, kCells) - 1) * half_size;
      const float z = (2 * Share(row, kCells) - 1) * half_size;
      builder.Add({x, 0, z}, {0, 1, 0}, x, z, {1, 0, 0});
      // The path winds as a sine along z. The weights of the two layers add up to one, so that they
      // blend.
      const float off_path = std::abs(x + 3.5F - 2.0F * std::sin(z * 0.35F));
      const float path = std::clamp(1.6F - off_path, 0.0F, 1.0F);
      weights.insert(weights.end(), {1 - path, path, 0, 0});
    }
  }
  JoinGrid(builder, kCells, kCells);
  Mesh mesh = std::move(builder).Finish();
  mesh.streams["layer_weights"] = {4, std::move(weights)};
  return mesh;
}

// The lid has vertices of its own, because its normal differs from that of the side.
Mesh Column(float radius, float height, uint32_t joints) {
  constexpr uint32_t kColumns = 40;
  constexpr uint32_t kRows = 48;
  MeshBuilder builder;
  std::vector<uint32_t> joint_indices;
  std::vector<float> weights;
  for (uint32_t row = 0; row <= kRows; ++row) {
    const float along = Share(row, kRows) * static_cast<float>(joints - 1);
    // The two joints around the vertex, with shares by its distance: that bends the pillar
    // smoothly. At the very top the lower one is the last but one, since there is no joint above.
    const auto lower = std::min(static_cast<uint32_t>(along), joints - 2);
    const float upper_share = along - static_cast<float>(lower);
    for (uint32_t column = 0; column <= kColumns; ++column) {
      const float around = Share(column, kColumns) * 2 * kPi;
      const Vec3 normal = {std::cos(around), 0, std::sin(around)};
      const Vec3 position = normal * radius + Vec3{0, Share(row, kRows) * height, 0};
      builder.Add(position, normal, Share(column, kColumns) * 2, Share(row, kRows) * 3,
                  {-std::sin(around), 0, std::cos(around)});
      joint_indices.insert(joint_indices.end(), {lower, lower + 1, 0, 0});
      weights.insert(weights.end(), {1 - upper_share, upper_share, 0, 0});
    }
  }
  JoinGrid(builder, kColumns, kRows);
  // The lid hangs on the highest joint.
  const auto add_lid = [&](float x, float z) {
    joint_indices.insert(joint_indices.end(), {joints - 2, joints - 1, 0, 0});
    weights.insert(weights.end(), {0, 1, 0, 0});
    return builder.Add({x * radius, height, z * radius}, {0, 1, 0}, x, z, {1, 0, 0});
  };
  const uint32_t center = add_lid(0, 0);
  uint32_t last = add_lid(1, 0);
  for (uint32_t column = 1; column <= kColumns; ++column) {
    const float around = Share(column, kColumns) * 2 * kPi;
    const uint32_t next = add_lid(std::cos(around), std::sin(around));
    builder.Triangle(center, last, next);
    last = next;
  }
  Mesh mesh = std::move(builder).Finish();
  mesh.streams["joints"] = {4, std::move(joint_indices)};
  mesh.streams["weights"] = {4, std::move(weights)};
  return mesh;
}

Mesh ScreenTriangle() {
  Mesh mesh;
  // Larger than the screen and cut off by it. Two triangles would shade the pixels along their
  // common edge twice.
  mesh.streams["position"] = {2, std::vector<float>{-1, -1, -1, 3, 3, -1}};
  mesh.vertex_count = 3;
  mesh.indices = {0, 1, 2};
  return mesh;
}

// Letters have four corners each, and the texture has them side by side in the same order.
Mesh TextLine(uint32_t letters) {
  constexpr float kWidth = 0.8F;
  Mesh mesh;
  std::vector<float> corners;
  std::vector<float> uvs;
  for (uint32_t i = 0; i < letters; ++i) {
    const float left = (static_cast<float>(i) - static_cast<float>(letters) / 2) * kWidth;
    corners.insert(corners.end(), {left, 1, left + kWidth, 1, left + kWidth, 0, left, 0});
    const float u = Share(i, letters);
    const float next = Share(i + 1, letters);
    uvs.insert(uvs.end(), {u, 0, next, 0, next, 1, u, 1});
    const uint32_t first = i * 4;
    mesh.indices.insert(mesh.indices.end(),
                        {first, first + 1, first + 2, first, first + 2, first + 3});
  }
  mesh.streams["position"] = {2, std::move(corners)};
  mesh.streams["uv"] = {2, std::move(uvs)};
  mesh.vertex_count = letters * 4;
  return mesh;
}

}  // namespace kiln::demo
