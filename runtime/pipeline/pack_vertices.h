// SPDX-License-Identifier: MIT
// Vertex and instance buffers as metadata lays them out: floats and integers in, packed elements
// out. See spec/pso 6.2.4
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "compiler/artifact/metadata.h"

namespace kiln::runtime {

// Data of one attribute: `components` values per element; matrices by columns. Floats feed float16,
// float32, unorm and snorm items, integers those of their sign.
struct AttributeData {
  std::string_view name;
  uint32_t components = 0;
  std::variant<std::span<const float>, std::span<const uint32_t>, std::span<const int32_t>> values;
};

// `count` elements of block_size bytes. Attributes without data are zero; components that the data
// lack are 0, 0, 0, 1; further ones are dropped.
// Errors: kInvalidArgument for data of an unknown attribute, of another kind than the attribute's
//         items, or with less than `count` elements.
Result<Bytes> PackVertices(const artifact::AttributeSource& source,
                           std::span<const AttributeData> data, uint32_t count);

// Round to nearest, ties to even; overflow gives infinity.
uint16_t HalfFromFloat(float value);

}  // namespace kiln::runtime
