// SPDX-License-Identifier: MIT
#include "runtime/pipeline/parameter_block.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace kiln::runtime {
namespace {

// Of one component in memory and in values.
// The types of halves are the last of the enumeration.
uint32_t ComponentBytes(artifact::ParameterType type) {
  return type >= artifact::ParameterType::kH1 ? 2 : 4;
}

}  // namespace

// A tail of plain items has no parameters in the metadata. One without a name is made up, so that
// both kinds of tails are written in the same way.
ParameterBlock ParameterBlock::Tail(const artifact::Buffer& buffer) {
  ParameterBlock block(buffer.tail_item_parameters);
  block.tail_offset_ = buffer.tail_offset;
  block.tail_stride_ = buffer.tail_item_size;
  const auto type = artifact::FromName<artifact::ParameterType>(buffer.tail_type);
  if (buffer.tail_item_parameters.empty() && type) {
    artifact::Parameter item;
    item.type = *type;
    // Columns share the item evenly, since nothing else lies in it.
    item.matrix_stride = buffer.tail_item_size / ShapeOf(*type).columns;
    block.own_.push_back(std::move(item));
  }
  return block;
}

// A handle holds all numbers that a write needs, so that writing a parameter in each frame looks
// nothing up. The handle of an unknown slot has no items, and writes to it fail.
ParameterHandle ParameterBlock::Handle(Slot slot) const {
  ParameterHandle handle;
  if (!slot || slot.index >= parameters().size()) {
    return handle;
  }
  const artifact::Parameter& parameter = parameters()[slot.index];
  const artifact::AttributeShape shape = ShapeOf(parameter.type);
  handle.offset_ = parameter.offset;
  handle.items_ = parameter.total_item_count;
  handle.item_bytes_ = ItemBytes(slot);
  handle.array_stride_ = parameter.array_stride;
  handle.columns_ = shape.columns;
  handle.column_bytes_ = shape.rows * ComponentBytes(parameter.type);
  handle.column_stride_ = shape.columns == 1 ? 0 : parameter.matrix_stride;
  // The padding behind the last column is no part of it: the block may end right behind the value.
  handle.span_ = handle.column_stride_ * (shape.columns - 1) + handle.column_bytes_;
  handle.tail_offset_ = tail_offset_;
  handle.tail_stride_ = tail_stride_;
  return handle;
}

Slot ParameterBlock::Find(std::string_view name) const {
  for (uint32_t i = 0; i < parameters().size(); ++i) {
    // Blocks have few parameters, and handles are looked up once.
    if (parameters()[i].name == name) {
      return {i};
    }
  }
  return {};
}

Slot ParameterBlock::FindTag(std::string_view tag) const {
  for (uint32_t i = 0; i < parameters().size(); ++i) {
    if (std::ranges::find(parameters()[i].tags, tag) != parameters()[i].tags.end()) {
      return {i};
    }
  }
  return {};
}

uint32_t ParameterBlock::ItemBytes(Slot slot) const {
  const artifact::AttributeShape shape = ShapeOf((*this)[slot].type);
  return shape.rows * shape.columns * ComponentBytes((*this)[slot].type);
}

// The handle says only that it failed; this function finds out why, for the message.
Result<void> ParameterBlock::Write(Slot slot, std::span<std::byte> memory,
                                   std::span<const std::byte> value, uint32_t item) const {
  if (!slot || slot.index >= parameters().size()) {
    return Error{ErrorCode::kInvalidArgument, "no such parameter", ""};
  }
  const artifact::Parameter& parameter = parameters()[slot.index];
  // The size is checked first: the handle would only say that the write failed.
  if (value.size() != ItemBytes(slot)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("parameter '{}' is {}, {} bytes, not {}", parameter.name,
                             NameOf(parameter.type), ItemBytes(slot), value.size()),
                 ""};
  }
  const ParameterHandle handle = Handle(slot);
  if (!handle.Write(memory, value, item)) {
    const uint64_t end = parameter.offset + uint64_t{parameter.array_stride} * item + handle.span_;
    return Error{ErrorCode::kOutOfRange,
                 fmt::format("item {} of parameter '{}' ends at byte {} of {}, it has {} items",
                             item, parameter.name, end, memory.size(), parameter.total_item_count),
                 ""};
  }
  return {};
}

}  // namespace kiln::runtime
