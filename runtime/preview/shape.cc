// SPDX-License-Identifier: MIT
// The meshes that previews are drawn on: built in and centred on the origin, or from a file.
#include "runtime/preview/shape.h"

#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/files/file.h"
#include "runtime/preview/obj_file.h"

namespace kiln::preview {
namespace {

constexpr float kHalfCube = 0.7F;
constexpr float kRadius = 0.8F;
// Fine enough for a round outline at the size of a preview.
constexpr uint32_t kSlices = 32;
constexpr uint32_t kStacks = 16;

using Vec3 = std::array<float, 3>;

Vec3 Combine(const Vec3& a, float x, const Vec3& b, float y, const Vec3& c, float z) {
  Vec3 out{};
  for (size_t i = 0; i < 3; ++i) {
    out[i] = a[i] * x + b[i] * y + c[i] * z;
  }
  return out;
}

// Counter-clockwise seen against `normal`; u goes along `right`, v down.
void AddSquare(Shape& shape, const Vec3& right, const Vec3& up, const Vec3& normal, float half,
               float distance) {
  const auto first = static_cast<uint32_t>(shape.vertices.size());
  // The corners go round against the clock, beginning at the lower left.
  for (const auto& [x, y] : {std::pair{-1.0F, -1.0F}, {1.0F, -1.0F}, {1.0F, 1.0F}, {-1.0F, 1.0F}}) {
    shape.vertices.push_back({.position = Combine(right, x * half, up, y * half, normal, distance),
                              .normal = normal,
                              .tangent = {right[0], right[1], right[2], 1.0F},
                              .uv = {(x + 1) / 2, (1 - y) / 2}});
  }
  for (const uint32_t corner : {0U, 1U, 2U, 0U, 2U, 3U}) {
    shape.indices.push_back(first + corner);
  }
}

Shape Cube() {
  Shape shape;
  constexpr Vec3 kX = {1, 0, 0};
  constexpr Vec3 kY = {0, 1, 0};
  constexpr Vec3 kZ = {0, 0, 1};
  constexpr Vec3 kLeft = {-1, 0, 0};
  constexpr Vec3 kDown = {0, -1, 0};
  constexpr Vec3 kBack = {0, 0, -1};
  // Front, back, right, left, top and bottom; the three axes of each make a right-handed system.
  AddSquare(shape, kX, kY, kZ, kHalfCube, kHalfCube);
  AddSquare(shape, kLeft, kY, kBack, kHalfCube, kHalfCube);
  AddSquare(shape, kBack, kY, kX, kHalfCube, kHalfCube);
  AddSquare(shape, kZ, kY, kLeft, kHalfCube, kHalfCube);
  AddSquare(shape, kX, kBack, kY, kHalfCube, kHalfCube);
  AddSquare(shape, kX, kZ, kDown, kHalfCube, kHalfCube);
  return shape;
}

// Rows of latitude from the north pole down; the triangles at the poles have no area on one side
// and are left as they are.
Shape Sphere() {
  Shape shape;
  // The poles have a full row of vertices too, since each has its own u.
  for (uint32_t stack = 0; stack <= kStacks; ++stack) {
    const float v = static_cast<float>(stack) / kStacks;
    const float polar = v * std::numbers::pi_v<float>;
    for (uint32_t slice = 0; slice <= kSlices; ++slice) {
      const float u = static_cast<float>(slice) / kSlices;
      // The seam has two columns of vertices, as u is 0 on one and 1 on the other.
      const float around = u * 2 * std::numbers::pi_v<float>;
      const Vec3 normal = {std::sin(polar) * std::sin(around), std::cos(polar),
                           std::sin(polar) * std::cos(around)};
      shape.vertices.push_back(
          {.position = {normal[0] * kRadius, normal[1] * kRadius, normal[2] * kRadius},
           .normal = normal,
           .tangent = {std::cos(around), 0, -std::sin(around), 1.0F},
           .uv = {u, v}});
    }
  }
  // One more than slices, for the seam.
  constexpr uint32_t kRow = kSlices + 1;
  for (uint32_t stack = 0; stack < kStacks; ++stack) {
    for (uint32_t slice = 0; slice < kSlices; ++slice) {
      const uint32_t corner = stack * kRow + slice;
      // Two triangles for each field. Those at the poles have no area and are drawn as nothing.
      for (const uint32_t index :
           {corner, corner + kRow, corner + kRow + 1, corner, corner + kRow + 1, corner + 1}) {
        shape.indices.push_back(index);
      }
    }
  }
  return shape;
}

}  // namespace

// Names that end with `.obj` are read as files; all others are shapes that are built in.
Result<Shape> MakeShape(std::string_view name, Winding winding) {
  Shape shape;
  if (name == "quad") {
    AddSquare(shape, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, 1, 0);
  } else if (name == "cube") {
    shape = Cube();
  } else if (name == "sphere") {
    shape = Sphere();
  } else if (name.ends_with(".obj")) {
    KILN_TRY(const std::string text, ReadFile(std::string(name)));
    Result<Shape> read = ReadObj(text);
    if (!read.ok()) {
      return WithContext(std::move(read).error(), std::string(name));
    }
    shape = std::move(read).value();
  } else {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("there is no mesh '{}'; there are quad, cube, sphere and FILE.obj", name),
        "USAGE"};
  }
  // All shapes are made counter-clockwise and turned around at the end, so there is one place for
  // it.
  for (size_t i = 0; winding == Winding::kClockwise && i < shape.indices.size(); i += 3) {
    std::swap(shape.indices[i + 1], shape.indices[i + 2]);
  }
  return shape;
}

}  // namespace kiln::preview
