// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/typed/typed_interface.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/emit/wgsl/typed/builtin_values.h"
#include "compiler/emit/wgsl/typed/legal_names.h"

namespace kiln::wgsl {
namespace {

// Between the stages only; elsewhere nothing is interpolated. Smooth is what is without words.
std::string_view InterpolationText(ir::Interpolation interpolation) {
  switch (interpolation) {
    case ir::Interpolation::kSmooth:
      return "";
    case ir::Interpolation::kFlat:
      return " @interpolate(flat)";
    case ir::Interpolation::kNoPerspective:
      return " @interpolate(linear)";
    case ir::Interpolation::kCentroid:
      return " @interpolate(perspective, centroid)";
    case ir::Interpolation::kSample:
      return " @interpolate(perspective, sample)";
  }
  return "";
}

std::string AttributesOf(const ir::EntryRef& entry, const ir::InterfaceRow& row,
                         const BuiltinValue* builtin) {
  if (builtin != nullptr) {
    return fmt::format("@builtin({})", builtin->wgsl);
  }
  const ir::Attribute* location = row.Find(ir::AttributeKey::kLocation);
  std::string text = fmt::format("@location({})", location == nullptr ? 0 : location->a);
  // With two sources of blending both say which they are.
  const bool two = std::ranges::any_of(entry.io, [](const ir::InterfaceRow& other) {
    return other.Find(ir::AttributeKey::kIndex) != nullptr;
  });
  if (two && row.direction == ir::Direction::kOut) {
    const ir::Attribute* index = row.Find(ir::AttributeKey::kIndex);
    text += fmt::format(" @blend_src({})", index == nullptr ? 0 : index->a);
  }
  const bool between = entry.stage == ir::Stage::kVertex ? row.direction == ir::Direction::kOut
                                                         : row.direction == ir::Direction::kIn;
  const ir::Attribute* interpolation = row.Find(ir::AttributeKey::kInterpolation);
  if (between && interpolation != nullptr) {
    text += InterpolationText(static_cast<ir::Interpolation>(interpolation->a));
  }
  return text;
}

}  // namespace

TypedInterface InterfaceOf(const ir::EntryRef& entry, const std::vector<std::string>& names,
                           Types& types) {
  const ir::Pool& pool = types.pool();
  TypedInterface interface;
  NameSet members;
  for (size_t i = 0; i < entry.io.size(); ++i) {
    const ir::InterfaceRow& row = entry.io[i];
    const BuiltinValue* builtin = BuiltinValueOf(pool, row);
    TypedLeaf leaf{.attributes = AttributesOf(entry, row, builtin),
                   .name = {},
                   .type = types.Text(ValueTypeOf(pool, row))};
    if (row.Find(ir::AttributeKey::kIndex) != nullptr) {
      interface.enable.emplace_back("dual_source_blending");
    }
    if (row.direction == ir::Direction::kOut) {
      leaf.name = members.Take(LegalMember(pool.Text(row.name)));
      interface.outputs.push_back(std::move(leaf));
      continue;
    }
    if (names[i].empty()) {
      continue;
    }
    leaf.name = names[i];
    // A parameter has the type of WGSL, whatever part of it the source takes.
    if (builtin != nullptr) {
      leaf.type = types.Text(pool.Vector(builtin->scalar, builtin->rows));
      if (!builtin->feature.empty()) {
        interface.enable.emplace_back(builtin->feature);
      }
    }
    interface.inputs.push_back(std::move(leaf));
  }
  return interface;
}

}  // namespace kiln::wgsl
