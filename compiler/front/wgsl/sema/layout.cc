// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/sema/layout.h"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::wgsl::front {
namespace {

uint64_t RoundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

Extent VectorExtent(uint64_t item, uint64_t rows) {
  const uint64_t aligned = rows == 3 ? 4 : rows;
  return {.align = aligned * item, .size = rows * item};
}

// What a uniform buffer wants of the place of a member.
uint64_t UniformAlign(const Types& types, TypeId id) {
  const Type& type = types[id];
  const uint64_t align = ExtentOf(types, id).align;
  const bool aggregate = type.kind == TypeKind::kArray || type.kind == TypeKind::kStruct;
  return aggregate ? RoundUp(align, 16) : align;
}

}  // namespace

Extent ExtentOf(const Types& types, TypeId id) {
  const Type& type = types[id];
  const uint64_t item = type.scalar == ScalarKind::kF16 ? 2 : 4;
  switch (type.kind) {
    case TypeKind::kScalar:
    case TypeKind::kAtomic:
      return {.align = item, .size = item};
    case TypeKind::kVector:
      return VectorExtent(item, type.rows);
    case TypeKind::kMatrix: {
      const Extent column = VectorExtent(item, type.rows);
      return {.align = column.align,
              .size = RoundUp(column.size, column.align) * type.columns};
    }
    case TypeKind::kArray: {
      const uint64_t stride = StrideOf(types, id);
      return {.align = ExtentOf(types, TypeId{type.element}).align,
              .size = stride * std::max(type.count, 1u)};
    }
    case TypeKind::kStruct: {
      const Struct& row = types.StructOf(id);
      return {.align = row.align, .size = row.size};
    }
    default:
      return {};
  }
}

uint64_t StrideOf(const Types& types, TypeId array) {
  const Extent item = ExtentOf(types, TypeId{types[array].element});
  return RoundUp(item.size, item.align);
}

void LayOut(Types& types, StructId id) {
  constexpr uint64_t kMost = 0xffffffffu;
  uint64_t at = 0;
  uint64_t most = 1;
  for (StructMember& member : types[id].members) {
    Extent extent = ExtentOf(types, member.type);
    extent.align = member.align != 0 ? member.align : extent.align;
    extent.size = member.size != 0 ? member.size : extent.size;
    at = RoundUp(at, extent.align);
    member.offset = static_cast<uint32_t>(std::min(at, kMost));
    at = std::min(at + extent.size, kMost);
    most = std::max(most, extent.align);
  }
  types[id].align = static_cast<uint32_t>(most);
  types[id].size = static_cast<uint32_t>(std::min(RoundUp(at, most), kMost));
}

std::optional<std::string> UniformFault(const Types& types, TypeId id) {
  const Type& type = types[id];
  if (type.kind == TypeKind::kArray) {
    if (StrideOf(types, id) % 16 != 0) {
      return fmt::format("items of '{}' are {} bytes apart, which is no multiple of 16",
                         types.Text(id), StrideOf(types, id));
    }
    return UniformFault(types, TypeId{type.element});
  }
  if (type.kind != TypeKind::kStruct) {
    return std::nullopt;
  }
  const Struct& row = types.StructOf(id);
  for (size_t i = 0; i < row.members.size(); ++i) {
    const StructMember& member = row.members[i];
    const uint64_t align = UniformAlign(types, member.type);
    if (member.offset % align != 0) {
      return fmt::format("member '{}' of '{}' is at {}, which is no multiple of {}", member.name,
                         row.name, member.offset, align);
    }
    const bool before = i > 0 && types[row.members[i - 1].type].kind == TypeKind::kStruct;
    if (before) {
      const StructMember& last = row.members[i - 1];
      if (member.offset - last.offset < RoundUp(ExtentOf(types, last.type).size, 16)) {
        return fmt::format("member '{}' of '{}' is less than 16 bytes behind struct '{}'",
                           member.name, row.name, last.name);
      }
    }
    if (std::optional<std::string> fault = UniformFault(types, member.type)) {
      return fault;
    }
  }
  return std::nullopt;
}

}  // namespace kiln::wgsl::front
