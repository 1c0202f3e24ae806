// SPDX-License-Identifier: MIT
#include "compiler/layout/bytes.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/base/check.h"

namespace kiln::layout {
namespace {

// Sizes stay below 2^33 because nothing is computed from what is too large already; so one sum, or
// one product with a number below 2^31, fits 64 bits.
constexpr uint64_t kMaxSize = 0xffffffffu;
constexpr uint32_t kLine = 16;

TypeLayout Faulty(TypeFault fault) {
  TypeLayout result;
  result.fault = fault;
  return result;
}

// Most rule sets align a vector to the next power of two of its size, so three components to four;
// the others align it like its scalar.
TypeLayout VectorLayout(ScalarKind scalar, uint32_t components, const RuleTraits& traits) {
  TypeLayout result;
  const uint32_t size = ScalarSize(scalar) * components;
  result.size = size;
  result.alignment = traits.power_of_two_vectors ? std::bit_ceil(size) : ScalarSize(scalar);
  return result;
}

// Items of an array, or the stored vectors of a matrix. `stride` is the author's, or 0;
// `unit` the alignment that such a stride must keep.
TypeLayout ArrayLayout(const TypeLayout& item, uint64_t count, uint32_t stride, uint32_t unit,
                       const RuleTraits& traits) {
  // Faults of an item are faults of the array, and what has no end cannot be repeated.
  if (item.fault != TypeFault::kNone) {
    return Faulty(item.fault);
  }
  if (item.unsized) {
    return Faulty(TypeFault::kTail);
  }
  TypeLayout result;
  result.alignment = std::max(traits.array_alignment, item.alignment);
  uint64_t step = RoundUp(item.size, result.alignment);
  if (stride != 0) {
    if (stride % unit != 0 || stride < item.size) {
      return Faulty(TypeFault::kStride);
    }
    step = stride;
  }
  // A count that large would be out of range with items of a single byte.
  if (step > kMaxSize || (item.size != 0 && count > kMaxSize)) {
    // Checked before the product: a step times a count that are both below 2^32 fits 64 bits.
    return Faulty(TypeFault::kTooLarge);
  }
  // Some rules give the last item its full stride, others end behind its bytes.
  const uint64_t last = traits.padded_last_item ? step : item.size;
  result.size = count == 0 || item.size == 0 ? 0 : (count - 1) * step + last;
  result.stride = static_cast<uint32_t>(step);
  result.matrix_stride = item.matrix_stride;
  if (result.size > kMaxSize) {
    return Faulty(TypeFault::kTooLarge);
  }
  return result;
}

// A matrix is an array of its stored vectors, rows or columns, and obeys the rules of arrays. Under
// register rules a single vector is just a vector.
TypeLayout MatrixLayout(const Type& type, MatrixOrder order, const RuleTraits& traits) {
  const bool rows = order == MatrixOrder::kRow;
  const uint32_t components = rows ? type.columns : type.rows;
  const uint32_t vectors = rows ? type.rows : type.columns;
  TypeLayout vector = VectorLayout(type.scalar, components, traits);
  if (traits.register_lines && vectors == 1) {
    return vector;
  }
  TypeLayout result = ArrayLayout(vector, vectors, type.stride, ScalarSize(type.scalar), traits);
  result.matrix_stride = result.stride;
  result.stride = 0;
  return result;
}

// Relaxed rules are of scalars up to four bytes; wider ones keep their alignment.
bool IsRelaxed(const Type& type, const RuleTraits& traits) {
  return traits.relaxed_vectors && type.kind == TypeKind::kVector && ScalarSize(type.scalar) <= 4;
}

// Would the vector touch two lines at one of the places that a struct of this alignment may have?
bool MayCrossLine(uint64_t offset, uint64_t size, uint32_t alignment) {
  for (uint32_t place = 0; place < kLine; place += alignment) {
    if (CrossesLine(place + offset, size)) {
      return true;
    }
  }
  return false;
}

// Only written offsets can make members meet.
bool HasExplicitOffset(std::span<const Member> members) {
  return std::ranges::any_of(members, [](const Member& m) { return m.offset != kAutomatic; });
}

// Sorted by place, only neighbours can overlap. Asked for only if the author wrote offsets;
// otherwise members follow one another.
bool SharesBytes(std::vector<std::pair<uint64_t, uint64_t>> ranges) {
  std::ranges::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool CrossesLine(uint64_t offset, uint64_t size) {
  return size != 0 && offset % kLine != 0 && offset / kLine != (offset + size - 1) / kLine;
}

// The one placing algorithm for all rule sets; they differ in facts (`RuleTraits`) and not in code.
// A member stands at the end of the one before, rounded up to its alignment. Relaxed rules align
// vectors like their components, register rules know no alignment beyond that of scalars, and in
// both a member that would straddle a line of 16 bytes moves to the next. An offset that the author
// wrote is taken, and only checked.
MemberPlacing PlaceMember(const Type& type, const Member& member, const TypeLayout& layout,
                          uint64_t end, const RuleTraits& traits) {
  MemberPlacing placing{.size = std::max(layout.size, member.size), .alignment = layout.alignment};
  const bool relaxed = IsRelaxed(type, traits);
  if (relaxed) {
    placing.alignment = ScalarSize(type.scalar);
  }
  placing.alignment = std::max(placing.alignment, member.alignment);
  const bool lines = relaxed || traits.register_lines;
  if (member.offset != kAutomatic) {
    placing.offset = member.offset;
    placing.legal = placing.offset % placing.alignment == 0 &&
                    !(lines && CrossesLine(placing.offset, placing.size));
    return placing;
  }
  placing.offset = RoundUp(end, placing.alignment);
  if (lines && CrossesLine(placing.offset, placing.size)) {
    placing.offset = RoundUp(placing.offset, kLine);
  }
  return placing;
}

const TypeLayout& ByteLayouts::Of(const Member& member, Rules rules) {
  return Stored(member.type, rules, OrderOf(member));
}

// Remembered by type, rule set and order of matrices. Types are numbered bottom up, so the
// recursion is as deep as the type, which `Types` bounds, and every type is computed once.
const TypeLayout& ByteLayouts::Stored(TypeId type, Rules rules, MatrixOrder order) {
  const size_t row = (size_t{type.value} * kRulesCount + static_cast<size_t>(rules)) * 2 +
                     (order == MatrixOrder::kRow ? 1 : 0);
  if (row < known_.size() && known_[row]) {
    return *known_[row];
  }
  // The layout lies on the heap, so that references stay valid while the table grows.
  auto computed = std::make_unique<TypeLayout>(Compute(type, rules, order));  // may grow known_
  if (row >= known_.size()) {
    known_.resize(std::max(row + 1, size_t{types_.size()} * kRulesCount * 2));
  }
  known_[row] = std::move(computed);
  return *known_[row];
}

// A stride that the author wrote must keep the scalars of an item aligned, whatever rule set
// follows.
uint32_t ByteLayouts::StrideUnit(const Type& array, MatrixOrder order) {
  return array.stride == 0 ? 1 : Stored(array.element, Rules::kScalar, order).alignment;
}

TypeLayout ByteLayouts::Compute(TypeId id, Rules rules, MatrixOrder order) {
  const Type& type = types_[id];
  const RuleTraits& traits = TraitsOf(rules);
  switch (type.kind) {
    case TypeKind::kVector:
      return VectorLayout(type.scalar, type.rows, traits);
    case TypeKind::kMatrix:
      return MatrixLayout(type, order, traits);
    case TypeKind::kArray:
      return ArrayLayout(Stored(type.element, rules, order), type.extent, type.stride,
                         StrideUnit(type, order), traits);
    // Only register rules have no place for an array without an end.
    case TypeKind::kRuntimeArray: {
      if (!type.has_bytes) {
        return {};
      }
      if (traits.register_lines) {
        return Faulty(TypeFault::kTail);
      }
      TypeLayout array = ArrayLayout(Stored(type.element, rules, order), 0, type.stride,
                                     StrideUnit(type, order), traits);
      array.unsized = array.fault == TypeFault::kNone;
      array.tail_stride = array.stride;
      return array;
    }
    case TypeKind::kStruct:
      return ComputeStruct(id, rules);
    case TypeKind::kResource:
    case TypeKind::kConstantBuffer:
    case TypeKind::kParameterBlock:
      return {};
    case TypeKind::kGeneric:
      return Faulty(TypeFault::kUnspecialised);
    case TypeKind::kEndless:
      return Faulty(TypeFault::kTooLarge);
  }
  KILN_UNREACHABLE();
}

// A relaxed vector keeps to its line by its offset in the struct, and lines are those of the block.
// So a struct that could stand where such a vector touches two of them must begin a line.
uint32_t ByteLayouts::RelaxedAlignment(std::span<const Member> members, const TypeLayout& placed,
                                       const RuleTraits& traits) const {
  for (size_t i = 0; i < members.size(); ++i) {
    const Type& type = types_[members[i].type];
    if (IsRelaxed(type, traits) &&
        MayCrossLine(placed.offsets[i], ScalarSize(type.scalar) * type.rows, placed.alignment)) {
      return std::max(placed.alignment, kLine);
    }
  }
  return placed.alignment;
}

// Faults are values: the first one in a type becomes the fault of all that contain it, and whoever
// reports it walks down again to say where it is. Sizes are checked after each member, so that the
// sums of one pass cannot overflow.
TypeLayout ByteLayouts::ComputeStruct(TypeId id, Rules rules) {
  const RuleTraits& traits = TraitsOf(rules);
  const std::span<const Member> members = types_.Members(id);
  if (types_[id].path_count > kMaxPaths) {
    return Faulty(TypeFault::kTooLarge);
  }
  TypeLayout result;
  result.alignment = traits.struct_alignment;
  result.offsets.reserve(members.size());
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // only with explicit offsets
  const bool explicit_offsets = HasExplicitOffset(members);
  uint64_t end = 0;      // of the previous member
  uint64_t largest = 0;  // end of any member
  for (const Member& member : members) {
    const TypeLayout& layout = Of(member, rules);
    if (layout.fault != TypeFault::kNone) {
      return Faulty(layout.fault);
    }
    // A member without bytes gets an offset, since offsets are by member, but moves nothing.
    if (layout.size == 0 && member.size == 0 && !layout.unsized) {
      result.offsets.push_back(end);
      continue;
    }
    if (result.unsized) {
      return Faulty(TypeFault::kTail);
    }
    if ((member.offset != kAutomatic && member.offset > kMaxSize) || member.size > kMaxSize) {
      return Faulty(TypeFault::kTooLarge);
    }
    const MemberPlacing placing = PlaceMember(types_[member.type], member, layout, end, traits);
    if (!placing.legal) {
      return Faulty(TypeFault::kOffset);
    }
    end = placing.offset + placing.size;
    largest = std::max(largest, end);
    if (end > kMaxSize) {
      return Faulty(TypeFault::kTooLarge);
    }
    if (explicit_offsets) {
      ranges.emplace_back(placing.offset, end);
    }
    result.offsets.push_back(placing.offset);
    // A struct is aligned like its most demanding member, and at least as the rules say.
    result.alignment = std::max({result.alignment, layout.alignment, member.alignment});
    result.unsized = layout.unsized;
    result.tail_stride = layout.tail_stride;
  }
  if (SharesBytes(std::move(ranges))) {
    return Faulty(TypeFault::kShared);
  }
  if (traits.relaxed_vectors) {
    result.alignment = RelaxedAlignment(members, result, traits);
  }
  // Items of a runtime tail start exactly where the main part ends.
  const bool rounded = traits.rounded_structs && !result.unsized;
  result.size = rounded ? RoundUp(largest, result.alignment) : largest;
  return result.size > kMaxSize ? Faulty(TypeFault::kTooLarge) : result;
}

}  // namespace kiln::layout
