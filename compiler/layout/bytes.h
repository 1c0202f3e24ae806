// SPDX-License-Identifier: MIT
// Byte layout of one type under one rule set: offsets, strides, sizes, alignments. A pure function
// of the type, remembered per type; knows nothing of names and bindings. See spec/layout 4.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/layout/rules.h"
#include "compiler/layout/types.h"

namespace kiln::layout {

// Why a type has no layout. faults.h says where.
enum class TypeFault : uint8_t {
  kNone,
  kTooLarge,       // 32 bits are not enough, or it is nested too deep
  kUnspecialised,  // depends on a generic type
  kOffset,         // an explicit offset breaks the alignment of its member
  kShared,         // two members share a byte
  kStride,         // an explicit stride is too small or misaligned
  kTail,           // a run-time array that is not last, or where there can be none
};

// All numbers in bytes. With a fault no number means anything.
struct TypeLayout {
  uint64_t size = 0;  // of one value; without its runtime tail, if it ends in one
  uint32_t alignment = 1;
  uint32_t stride = 0;         // arrays, runtime arrays: distance of items
  uint32_t matrix_stride = 0;  // matrices and arrays of matrices, at any depth: of stored vectors
  std::vector<uint64_t> offsets;  // structs: one per member
  bool unsized = false;      // ends in a runtime array; then `size` is the offset of that array
  uint32_t tail_stride = 0;  // unsized: distance of the items of that array
  TypeFault fault = TypeFault::kNone;
};

// Layouts of the types of one table. One thread; references stay valid as long as the object.
class ByteLayouts {
 public:
  // `types` must outlive the object. `order` is that of fields without their own.
  explicit ByteLayouts(const Types& types, MatrixOrder order = MatrixOrder::kColumn)
      : types_(types), order_(order) {}

  // Resources and blocks have no bytes. O(1) when asked again.
  const TypeLayout& Of(TypeId type, Rules rules) { return Stored(type, rules, order_); }
  // The same for what a member holds, whose matrices have the order of the member.
  const TypeLayout& Of(const Member& member, Rules rules);
  MatrixOrder OrderOf(const Member& member) const {
    return member.order == MatrixOrder::kDefault ? order_ : member.order;
  }

  const Types& types() const { return types_; }
  MatrixOrder order() const { return order_; }

 private:
  const TypeLayout& Stored(TypeId type, Rules rules, MatrixOrder order);
  TypeLayout Compute(TypeId id, Rules rules, MatrixOrder order);
  TypeLayout ComputeStruct(TypeId id, Rules rules);
  uint32_t RelaxedAlignment(std::span<const Member> members, const TypeLayout& placed,
                            const RuleTraits& traits) const;
  // What an explicit stride of the array must be a multiple of.
  uint32_t StrideUnit(const Type& array, MatrixOrder order);

  const Types& types_;
  MatrixOrder order_;
  std::vector<std::unique_ptr<TypeLayout>> known_;  // by TypeId, Rules, order of matrices
};

// What a member needs in its struct.
struct MemberPlacing {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t alignment = 1;  // of its offset
  bool legal = true;       // false: the author's offset breaks the alignment or the register rule
};

// Places a member that would start at byte `end` at the earliest.
MemberPlacing PlaceMember(const Type& type, const Member& member, const TypeLayout& layout,
                          uint64_t end, const RuleTraits& traits);

// Whether a member at this offset crosses a line of 16 bytes that it does not start on.
bool CrossesLine(uint64_t offset, uint64_t size);

// The smallest multiple of `alignment` that is not below `value`.
constexpr uint64_t RoundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// The size of a block with this content, rounded, or the offset of its tail (spec/layout 4.4).
inline uint64_t MainSize(const TypeLayout& content) {
  return content.unsized ? content.size : RoundUp(content.size, content.alignment);
}

}  // namespace kiln::layout
