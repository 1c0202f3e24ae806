// SPDX-License-Identifier: MIT
// Storage has three rule sets here: std430, std430 with vectors that may stand at any component
// unless they would cross a line of 16 bytes, and that of C, where everything has the alignment of
// its scalars. Types nest no deeper than the parser allows.
#include "compiler/front/hlsl/check/resources/stride.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "compiler/base/threads/stop.h"

namespace kiln::hlsl {
namespace {

constexpr uint64_t kLine = 16;

struct Extent {
  uint64_t size = 0;
  uint64_t alignment = 1;
};
uint64_t RoundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// spec/layout 4 in as much as GetDimensions needs it. What is laid out for a variant is done
// there again, by the engine; both must agree.
class Measure {
 public:
  explicit Measure(const CheckContext& context)
      : context_(context),
        types_(context.unit.types),
        packed_(context.settings.layout == MemoryLayout::kDx ||
                context.settings.layout == MemoryLayout::kScalar),
        relaxed_(context.settings.layout == MemoryLayout::kRelaxed) {}

  Extent Of(TypeId id, const Attributes* written) {
    CheckStop();
    const Type& type = types_[id];
    switch (type.kind) {
      case TypeKind::kNumeric:
        return ValueForm(type) == Form::kMatrix ? OfMatrix(type, written)
                                                : OfVector(type.item, CountOf(type));
      case TypeKind::kArray: {
        const Extent item = Of(types_.ElementOf(id), written);
        return {RoundUp(item.size, item.alignment) * type.extent, item.alignment};
      }
      case TypeKind::kStruct:
        return OfStruct(id);
      default:
        return {4, 4};  // an enum
    }
  }

 private:
  static uint64_t SizeOf(Item item) { return item == Item::kDouble ? 8 : 4; }

  // A vector of three is aligned as one of four, unless everything has the alignment of its
  // scalars.
  Extent OfVector(Item item, uint32_t count) const {
    const uint64_t size = SizeOf(item) * count;
    return {size, packed_ ? SizeOf(item) : std::bit_ceil(size)};
  }

  // As many vectors as it has columns, or rows.
  // spec/hlsl 6.3: stored by rows or columns, whichever the member, or else the setting, says.
  Extent OfMatrix(const Type& type, const Attributes* written) const {
    const bool rows = written != nullptr && written->row_major;
    const bool columns = written != nullptr && written->column_major;
    const bool by_rows = rows || (!columns && context_.settings.matrix_order == MatrixOrder::kRow);
    const Extent vector = OfVector(type.item, by_rows ? type.columns : type.rows);
    return {RoundUp(vector.size, vector.alignment) * (by_rows ? type.rows : type.columns),
            vector.alignment};
  }

  struct Placed {
    uint64_t at = 0;
    uint64_t size = 0;
  };
  static bool Crosses(const Placed& vector) {
    return vector.at % kLine != 0 && vector.at / kLine != (vector.at + vector.size - 1) / kLine;
  }
  // At some place that a struct of this alignment may have.
  static bool MayCross(const Placed& vector, uint64_t alignment) {
    for (uint64_t place = 0; place < kLine; place += alignment) {
      if (Crosses({.at = place + vector.at, .size = vector.size})) {
        return true;
      }
    }
    return false;
  }

  // Members in order. Under the relaxed rules a vector moves only if it would cross a line of
  // 16 bytes, and a struct that could stand where one does begins a line.
  Extent OfStruct(TypeId id) {
    Extent made;
    uint64_t end = 0;
    std::vector<Placed> loose_ones;
    for (uint32_t i = 0; i < types_.StructOf(id).count; ++i) {
      const Member& member = types_.MemberOf(id, i);
      const Attributes* written =
          member.attributes == kNoRow ? nullptr : &context_.unit.attributes[member.attributes];
      const Extent part = Of(member.type, written);
      const Type& type = types_[member.type];
      const bool vector = type.kind == TypeKind::kNumeric && ValueForm(type) != Form::kMatrix;
      const bool loose = relaxed_ && vector && SizeOf(type.item) <= 4;
      uint64_t at = RoundUp(end, loose ? SizeOf(type.item) : part.alignment);
      if (loose && Crosses({.at = at, .size = part.size})) {
        at = RoundUp(at, kLine);
      }
      // An offset that is written counts as it is (spec/hlsl 15.2).
      if (written != nullptr && written->offset != kNoRow) {
        at = written->offset;
      }
      if (loose) {
        loose_ones.push_back({.at = at, .size = part.size});
      }
      end = at + part.size;
      made.size = std::max(made.size, end);
      made.alignment = std::max(made.alignment, part.alignment);
    }
    if (std::ranges::any_of(loose_ones,
                            [&](const Placed& one) { return MayCross(one, made.alignment); })) {
      made.alignment = std::max(made.alignment, kLine);
    }
    made.size = RoundUp(made.size, made.alignment);
    return made;
  }

  const CheckContext& context_;
  const Types& types_;
  const bool packed_;
  const bool relaxed_;
};

}  // namespace

// Nothing where options decide the size.
std::optional<uint32_t> StrideOf(const CheckContext& context, TypeId type) {
  if (context.unit.types.IsOpen(type)) {
    return std::nullopt;
  }
  const Extent bytes = Measure(context).Of(type, nullptr);
  return static_cast<uint32_t>(RoundUp(bytes.size, bytes.alignment));
}

}  // namespace kiln::hlsl
