// SPDX-License-Identifier: MIT
// What a preview gives to attributes and parameters that nobody set: by tag, then by name, then by
// type. See spec/pso 10.3, 10.4
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/artifact/metadata.h"
#include "runtime/pipeline/pack_vertices.h"
#include "runtime/preview/shape.h"

namespace kiln::preview {

using Matrix = std::array<float, 16>;  // by columns
Matrix Multiply(const Matrix& a, const Matrix& b);

// Where a preview is looked at from, and what is looked at.
struct View {
  Matrix projection = {};
  Matrix view = {};
  Matrix model = {};
  std::array<float, 3> eye = {0, 0, 3};
  uint32_t frame = 0;
};
// `reversed`: depth 1 is near. `mesh`: only cubes are turned.
View MakeView(std::string_view mesh, float aspect, bool reversed, uint32_t frame);

// Values of --set, by tag, parameter, or "buffer.parameter"; as many components as were written.
using SetValues = std::map<std::string, std::vector<double>, std::less<>>;

// A thing of the metadata and the rule that gave it its value: "tag clip_transform", "name eye",
// "set", "other matrix", …
struct Match {
  std::string name;
  std::string rule;
};

// Bytes of a block with every parameter written. `used`: the names of `set` that were found.
// Errors: kInvalidArgument for a value with another number of components.
Result<Bytes> FillDefaults(std::string_view block, std::span<const artifact::Parameter> parameters,
                           uint32_t size, const View& view, const SetValues& set,
                           std::vector<Match>& matches, std::vector<std::string>& used);

// The vertex or instance data of a source, packed.
Result<Bytes> PackDefaults(const artifact::AttributeSource& source, const Shape& shape,
                           const View& view, std::vector<Match>& matches);

// The name of `names` that is nearest to a wrong one; empty if none is near.
std::string Closest(std::string_view wrong, std::span<const std::string> names);

}  // namespace kiln::preview
