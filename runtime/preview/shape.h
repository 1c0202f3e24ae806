// SPDX-License-Identifier: MIT
// Meshes of previews, built-in ones and those of files: right-handed, y up, what a material needs
// to be looked at. See spec/pso 10.2
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::preview {

struct Vertex {
  std::array<float, 3> position = {};
  std::array<float, 3> normal = {};
  std::array<float, 4> tangent = {};  // along +u; sign of the bitangent in w
  std::array<float, 2> uv = {};       // from the upper left
};

struct Shape {
  std::vector<Vertex> vertices;
  std::vector<uint32_t> indices;  // triangles
};

enum class Winding : uint8_t { kClockwise, kCounterClockwise };  // seen from outside, y up

// "quad", "cube", "sphere" or FILE.obj. Errors: kInvalidArgument naming them; those of ReadObj;
// kNotFound and others of the file.
Result<Shape> MakeShape(std::string_view name, Winding winding);

}  // namespace kiln::preview
