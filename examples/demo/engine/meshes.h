// SPDX-License-Identifier: MIT
// Built-in meshes: streams of values by meaning, and triangles that wind clockwise as seen from
// outside. Nothing here knows how a shader wants them packed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace kiln::demo {

// `components` values per vertex or instance.
struct Stream {
  uint32_t components = 0;
  std::variant<std::vector<float>, std::vector<uint32_t>> values;
};

// By tag: position, normal, uv, tangent, joints, weights, layer_weights; instances:
// world_transform, tint.
using Streams = std::map<std::string, Stream, std::less<>>;

struct Mesh {
  Streams streams;
  uint32_t vertex_count = 0;
  std::vector<uint32_t> indices;
};

Mesh Sphere(float radius);
Mesh Cube(float half_size);

// A flat square around the origin, uv in metres; the second ground layer lies along a winding path.
Mesh Ground(float half_size);

// An upright pillar on the origin with a joint at each of `joints` equal heights, each vertex bound
// to its two nearest ones (four weights, two of them zero).
Mesh Column(float radius, float height, uint32_t joints);

// One triangle over the whole screen, two components.
Mesh ScreenTriangle();

// `letters` quads side by side, centred, one metre high; uv run through an atlas with a cell for
// each.
Mesh TextLine(uint32_t letters);

}  // namespace kiln::demo
