// SPDX-License-Identifier: MIT
#include "runtime/pipeline/parameter_block.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace kiln::runtime {
namespace {

constexpr uint32_t kComponentBytes = 4;

}  // namespace

Slot ParameterBlock::Find(std::string_view name) const {
  for (uint32_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].name == name) {
      return {i};
    }
  }
  return {};
}

Slot ParameterBlock::FindTag(std::string_view tag) const {
  for (uint32_t i = 0; i < parameters_.size(); ++i) {
    if (std::ranges::find(parameters_[i].tags, tag) != parameters_[i].tags.end()) {
      return {i};
    }
  }
  return {};
}

uint32_t ParameterBlock::ItemBytes(Slot slot) const {
  const artifact::AttributeShape shape = ShapeOf((*this)[slot].type);
  return shape.rows * shape.columns * kComponentBytes;
}

Result<void> ParameterBlock::Write(Slot slot, std::span<std::byte> memory,
                                   std::span<const std::byte> value, uint32_t item) const {
  if (!slot || slot.index >= parameters_.size()) {
    return Error{ErrorCode::kInvalidArgument, "no such parameter", ""};
  }
  const artifact::Parameter& parameter = parameters_[slot.index];
  if (value.size() != ItemBytes(slot)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("parameter '{}' is {}, {} bytes, not {}", parameter.name,
                             NameOf(parameter.type), ItemBytes(slot), value.size()),
                 ""};
  }
  const artifact::AttributeShape shape = ShapeOf(parameter.type);
  const size_t column = size_t{shape.rows} * kComponentBytes;
  const uint64_t stride = shape.columns == 1 ? column : parameter.matrix_stride;
  const uint64_t begin = parameter.offset + uint64_t{parameter.array_stride} * item;
  const uint64_t end = begin + stride * (shape.columns - 1) + column;
  if (item >= parameter.total_item_count || end > memory.size()) {
    return Error{ErrorCode::kOutOfRange,
                 fmt::format("item {} of parameter '{}' ends at byte {} of {}, it has {} items",
                             item, parameter.name, end, memory.size(), parameter.total_item_count),
                 ""};
  }
  for (uint32_t k = 0; k < shape.columns; ++k) {
    std::memcpy(memory.data() + begin + stride * k, value.data() + column * k, column);
  }
  return {};
}

}  // namespace kiln::runtime
