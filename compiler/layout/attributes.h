// SPDX-License-Identifier: MIT
// Packed vertex data: the fields of one container of attributes -> offsets, and the stride of its
// buffer. See spec/layout 4.8; spec/rpl 10.2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/layout/types.h"

namespace kiln::layout {

// How one component of a packed attribute is stored.
enum class ItemFormat : uint8_t {
  kFloat16,
  kFloat32,
  kUnorm8,
  kUnorm16,
  kSnorm8,
  kSnorm16,
  kUint8,
  kUint16,
  kUint32,
  kSint8,
  kSint16,
  kSint32,
};
std::string_view ItemFormatText(ItemFormat format);  // "snorm16"
std::optional<ItemFormat> FindItemFormat(std::string_view text);
uint32_t ItemSize(ItemFormat format);         // bytes of one component: 1, 2, 4
ItemFormat DefaultFormat(ScalarKind scalar);  // float32, uint32, sint32

struct PackedField {
  std::string_view name;
  TypeId type{};  // vector or matrix
  ItemFormat format = ItemFormat::kFloat32;
};

// Where a field lies, in bytes. A matrix is one attribute of several locations.
struct PackedPlace {
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t column_stride = 0;  // matrices: distance of columns; 0 for vectors
  uint32_t location = 0;       // the first
  uint32_t location_count = 1;
};

struct PackedBlock {
  uint32_t stride = 0;  // bytes from one element to the next
  std::vector<PackedPlace> places;
};

// Locations that a vector or matrix takes: 1, or one for each column.
inline uint32_t LocationsOf(const Type& type) {
  return type.kind == TypeKind::kMatrix ? type.columns : 1;
}

// Locations are left 0. Requires: fewer than 2^24 fields.
PackedBlock PackAttributes(const Types& types, std::span<const PackedField> fields);

}  // namespace kiln::layout
