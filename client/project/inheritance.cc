// SPDX-License-Identifier: MIT
// Sizes are those of 64 bits with the nodes of the standard library, rounded up. They need not be
// exact: what matters is that no part of a copy is free.
#include "client/project/inheritance.h"

namespace kiln::project {
namespace {

constexpr uint64_t kNode = 48;  // of a map, beside its key and value

uint64_t BytesOf(const std::string& text) { return sizeof(text) + text.size(); }

uint64_t BytesOf(const ManifestValue& value) {
  const auto* text = std::get_if<std::string>(&value.value);
  return sizeof(value) + (text == nullptr ? 0 : text->size());
}

uint64_t BytesOf(const ManifestAxis& axis) {
  uint64_t bytes = sizeof(axis);
  for (const ManifestValue& value : axis.values) {
    bytes += BytesOf(value);
  }
  return bytes;
}

uint64_t BytesOf(const std::vector<ManifestExpression>& expressions) {
  uint64_t bytes = 0;
  for (const ManifestExpression& expression : expressions) {
    bytes += sizeof(expression) + expression.text.size();
  }
  return bytes;
}

template <class Map>
uint64_t BytesOfMap(const Map& map) {
  uint64_t bytes = 0;
  for (const auto& [name, value] : map) {
    bytes += kNode + BytesOf(name) + BytesOf(value);
  }
  return bytes;
}

}  // namespace

uint64_t BytesOf(const std::vector<std::string>& texts) {
  uint64_t bytes = 0;
  for (const std::string& text : texts) {
    bytes += BytesOf(text);
  }
  return bytes;
}

uint64_t BytesOf(const std::map<std::string, std::string>& texts) { return BytesOfMap(texts); }

uint64_t BytesOf(const ManifestOptions& options) { return BytesOfMap(options); }

uint64_t BytesOf(const std::map<std::string, ManifestAxis>& axes) { return BytesOfMap(axes); }

uint64_t BytesOf(const ManifestHlsl& hlsl) {
  return BytesOf(hlsl.settings) + BytesOf(hlsl.defines) + BytesOf(hlsl.include_roots) +
         BytesOf(hlsl.include) + BytesOf(hlsl.macros);
}

// Explicit variants are none of a material, and no program takes them over.
uint64_t BytesOf(const ManifestProgram& program) {
  return sizeof(program) + program.name.size() + BytesOf(program.sources) +
         BytesOf(program.entry_points) + BytesOf(program.targets) + BytesOf(program.options) +
         BytesOf(program.axes) + BytesOf(program.exclude) + BytesOf(program.require) +
         BytesOf(program.tags) + BytesOf(program.hlsl);
}

}  // namespace kiln::project
