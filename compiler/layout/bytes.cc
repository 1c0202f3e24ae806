// SPDX-License-Identifier: MIT
#include "compiler/layout/bytes.h"

#include <algorithm>
#include <bit>

#include "compiler/base/check.h"

namespace kiln::layout {
namespace {

// Sizes stay below 2^33 because nothing is computed from what is too large already; so one product
// with a 32-bit count, or one sum, fits 64 bits.
constexpr uint64_t kMaxSize = 0xffffffffu;
constexpr uint32_t kLine = 16;

uint32_t ScalarSize(ir::Scalar scalar) { return scalar == ir::Scalar::kF16 ? 2 : 4; }

TypeLayout TooLarge() {
  TypeLayout result;
  result.too_large = true;
  return result;
}

TypeLayout VectorLayout(ir::Scalar scalar, uint32_t rows, const RuleTraits& traits) {
  TypeLayout result;
  const uint32_t size = ScalarSize(scalar) * rows;
  result.size = size;
  result.alignment = traits.power_of_two_vectors ? std::bit_ceil(size) : ScalarSize(scalar);
  return result;
}

// Items of an array with `count` items, or the columns of a matrix.
TypeLayout ArrayLayout(const TypeLayout& item, uint32_t count, const RuleTraits& traits) {
  TypeLayout result;
  result.alignment = std::max(traits.array_alignment, item.alignment);
  const uint64_t stride = RoundUp(item.size, result.alignment);
  if (item.too_large || stride > kMaxSize) {
    return TooLarge();
  }
  const uint64_t last = traits.padded_last_item ? stride : item.size;
  result.size = count == 0 ? 0 : (count - 1) * stride + last;
  result.stride = static_cast<uint32_t>(stride);
  result.matrix_stride = item.matrix_stride;
  result.too_large = result.size > kMaxSize;
  return result;
}

TypeLayout MatrixLayout(const ir::Type& type, const RuleTraits& traits) {
  const TypeLayout column = VectorLayout(type.scalar, type.rows, traits);
  TypeLayout result = ArrayLayout(column, type.columns, traits);
  result.matrix_stride = result.stride;
  result.stride = 0;
  return result;
}

uint64_t MemberOffset(uint64_t end, const TypeLayout& member, const RuleTraits& traits) {
  const uint64_t offset = RoundUp(end, member.alignment);
  if (!traits.register_lines || offset / kLine == (offset + member.size - 1) / kLine) {
    return offset;
  }
  return RoundUp(offset, kLine);
}

}  // namespace

const TypeLayout& TypeLayouts::Of(ir::TypeId type, Rules rules) {
  const size_t row = size_t{kRulesCount} * type.value + static_cast<size_t>(rules);
  if (row < known_.size() && known_[row]) {
    return *known_[row];
  }
  auto computed = std::make_unique<TypeLayout>(Compute(type, rules));  // may grow known_
  if (row >= known_.size()) {
    known_.resize(row + 1);
  }
  known_[row] = std::move(computed);
  return *known_[row];
}

TypeLayout TypeLayouts::Compute(ir::TypeId type, Rules rules) {
  const ir::Type t = pool_[type];
  const RuleTraits& traits = TraitsOf(rules);
  switch (t.kind) {
    case ir::TypeKind::kVector:
      return VectorLayout(t.scalar, t.rows, traits);
    case ir::TypeKind::kMatrix:
      return MatrixLayout(t, traits);
    case ir::TypeKind::kArray:
      return ArrayLayout(Of(ir::TypeId{t.element}, rules), t.extent, traits);
    case ir::TypeKind::kRuntimeArray: {
      TypeLayout array = ArrayLayout(Of(ir::TypeId{t.element}, rules), 0, traits);
      array.unsized = true;
      array.tail_stride = array.stride;
      return array;
    }
    case ir::TypeKind::kStruct:
      return ComputeStruct(type, rules);
    case ir::TypeKind::kVoid:
    case ir::TypeKind::kSampler:
    case ir::TypeKind::kImage:
    case ir::TypeKind::kNamed:
    case ir::TypeKind::kDeferred:
      break;
  }
  KILN_UNREACHABLE();
}

TypeLayout TypeLayouts::ComputeStruct(ir::TypeId type, Rules rules) {
  const RuleTraits& traits = TraitsOf(rules);
  TypeLayout result;
  result.alignment = traits.struct_alignment;
  uint64_t end = 0;
  for (const ir::ShapeMember& member : pool_.Members(type)) {
    const TypeLayout& layout = Of(member.type, rules);
    if (layout.too_large) {
      return TooLarge();
    }
    if (layout.size == 0 && !layout.unsized) {
      result.offsets.push_back(end);
      continue;
    }
    const uint64_t offset = MemberOffset(end, layout, traits);
    end = offset + layout.size;
    if (end > kMaxSize) {
      return TooLarge();
    }
    result.offsets.push_back(offset);
    result.alignment = std::max(result.alignment, layout.alignment);
    result.unsized = layout.unsized;
    result.tail_stride = layout.tail_stride;
  }
  // Items of a runtime tail start exactly where the main part ends.
  const bool rounded = traits.rounded_structs && !result.unsized;
  result.size = rounded ? RoundUp(end, result.alignment) : end;
  result.too_large = result.size > kMaxSize;
  return result;
}

}  // namespace kiln::layout
