// SPDX-License-Identifier: MIT
// Values of parameters by name, and how they get into buffers. A variant says by metadata where
// each parameter lies; the same values serve every variant.
#include "examples/demo/engine/values.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/pipeline/parameter_block.h"

namespace kiln::demo {
namespace {

using artifact::Parameter;
using runtime::ParameterBlock;

// A tag is a meaning that several shaders agree on, and wins over the name in one block.
const Bytes* FindValue(std::string_view block, const Parameter& parameter,
                       const ValueTable& values) {
  for (const std::string& tag : parameter.tags) {
    if (const Bytes* const found = values.Find(tag)) {
      return found;
    }
  }
  return values.Find(fmt::format("{}.{}", block, parameter.name));
}

// Writes as many items as both sides have.
Result<void> WriteItems(const Parameter& parameter, std::span<const std::byte> value,
                        std::span<std::byte> memory) {
  // The stride of an array and of the columns of a matrix differ from how values are given. Write
  // knows both.
  const ParameterBlock block({&parameter, 1});
  const runtime::Slot slot{0};
  const uint32_t item = block.ItemBytes(slot);
  if (value.empty() || value.size() % item != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the value of '{}' has {} bytes, items have {}", parameter.name,
                             value.size(), item),
                 ""};
  }
  const auto given = static_cast<uint32_t>(value.size() / item);
  // An array may have more items than its variant reads, or fewer: what is not given stays zero.
  for (uint32_t i = 0; i < std::min(given, parameter.total_item_count); ++i) {
    KILN_TRY_VOID(block.Write(slot, memory, value.subspan(size_t{i} * item, item), i));
  }
  return {};
}

}  // namespace

void ValueTable::Set(std::string name, std::span<const float> items) {
  const auto bytes = std::as_bytes(items);
  values_[std::move(name)] = Bytes(bytes.begin(), bytes.end());
}

void ValueTable::SetUints(std::string name, std::initializer_list<uint32_t> items) {
  const auto bytes = std::as_bytes(std::span(items.begin(), items.size()));
  values_[std::move(name)] = Bytes(bytes.begin(), bytes.end());
}

// The insertion of a range keeps what is there.
void ValueTable::AddMissing(const ValueTable& other) {
  values_.insert(other.values_.begin(), other.values_.end());
}

const Bytes* ValueTable::Find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

// Every parameter must have a value: one that was forgotten would be zero and look like a bug of
// the shader.
Result<Bytes> FillBlock(std::string_view block, std::span<const Parameter> parameters,
                        uint32_t size, const ValueTable& values) {
  Bytes memory(size);
  for (const Parameter& parameter : parameters) {
    const Bytes* const value = FindValue(block, parameter, values);
    if (value == nullptr) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("no value is given for '{}.{}'", block, parameter.name), ""};
    }
    KILN_TRY_VOID(WriteItems(parameter, *value, memory));
  }
  return memory;
}

// The part of fixed size first, then as many items of the tail as the value has.
Result<Bytes> FillBuffer(const artifact::Buffer& buffer, const ValueTable& values) {
  KILN_TRY(Bytes memory, FillBlock(buffer.name, buffer.main_parameters, buffer.main_size, values));
  if (buffer.tail_item_size == 0) {
    return memory;
  }
  const Bytes* const value = values.Find(fmt::format("{}.{}", buffer.name, buffer.tail_field));
  const auto type = artifact::FromName<artifact::ParameterType>(buffer.tail_type);
  if (value == nullptr || !type) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("no value is given for '{}.{}'", buffer.name, buffer.tail_field), ""};
  }
  // A tail is an array without an end: as many items as the value has.
  const artifact::AttributeShape shape = ShapeOf(*type);
  const auto count =
      static_cast<uint32_t>(value->size() / (size_t{4} * shape.rows * shape.columns));
  Parameter tail{.name = buffer.tail_field,
                 .type = *type,
                 .offset = buffer.tail_offset,
                 .total_item_count = count,
                 .array_stride = buffer.tail_item_size,
                 .matrix_stride = buffer.tail_item_size / shape.columns};
  memory.resize(buffer.tail_offset + size_t{count} * buffer.tail_item_size);
  KILN_TRY_VOID(WriteItems(tail, *value, memory));
  return memory;
}

}  // namespace kiln::demo
