// SPDX-License-Identifier: MIT
// Byte layout of one closed type under one rule set: offsets, strides, sizes, alignments. A pure
// function of the type, remembered per type. Spec: layout.md 4.1 to 4.4; rpl.md 10.3.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/ir/types.h"
#include "compiler/layout/rules.h"

namespace kiln::layout {

// All numbers in bytes. Matrices are column-major.
struct TypeLayout {
  uint64_t size = 0;  // of one value; without its runtime tail, if it ends in one
  uint32_t alignment = 1;
  uint32_t stride = 0;         // arrays, runtime arrays: distance of items
  uint32_t matrix_stride = 0;  // matrices and arrays of matrices, at any depth: distance of columns
  std::vector<uint64_t> offsets;  // structs: one per member
  bool unsized = false;      // ends in a runtime array; then `size` is the offset of that array
  uint32_t tail_stride = 0;  // unsized: distance of the items of that array
  // Some size or offset in it does not fit 32 bits; then no other number means anything.
  bool too_large = false;
};

// Layouts of the types of one pool. One thread; references stay valid as long as the object.
class TypeLayouts {
 public:
  // `pool` must outlive the object.
  explicit TypeLayouts(const ir::Pool& pool) : pool_(pool) {}

  // Requires: a vector, matrix, array, runtime array or struct of those. O(1) when asked again.
  const TypeLayout& Of(ir::TypeId type, Rules rules);

  const ir::Pool& pool() const { return pool_; }

 private:
  TypeLayout Compute(ir::TypeId type, Rules rules);
  TypeLayout ComputeStruct(ir::TypeId type, Rules rules);

  const ir::Pool& pool_;
  std::vector<std::unique_ptr<TypeLayout>> known_;  // by kRulesCount * TypeId + Rules
};

// The smallest multiple of `alignment` that is not below `value`.
constexpr uint64_t RoundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace kiln::layout
