// SPDX-License-Identifier: MIT
// What an engine is told about the modules of a variant besides their text: names, bindings,
// features. See spec/wgsl 3.15.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/wgsl/variant_checks.h"

namespace kiln::wgsl {

struct NameRow {
  std::string name;    // in WGSL
  std::string source;  // "surface.uv"
};

struct EntryRow {
  ir::Stage stage = ir::Stage::kVertex;
  std::string name;  // in WGSL
};

// One binding of a reached function.
struct BindingRow {
  std::string source;
  uint32_t element = 0;  // of an array of images
  uint32_t group = 0;
  uint32_t binding = 0;
  // uniform, read_only_storage, storage, push_constant, sampler, comparison_sampler, texture,
  // depth_texture, storage_texture
  std::string_view kind;
  std::string type{};  // of textures
};

struct VariantDescription {
  std::vector<EntryRow> entries;
  std::vector<NameRow> names;         // that differ from the source, in order of declaration
  std::vector<BindingRow> bindings;   // in order of declaration
  std::vector<std::string> features;  // of the device
  bool derivative_uniformity_off = false;
};

VariantDescription Describe(const CheckInputs& inputs);

}  // namespace kiln::wgsl
