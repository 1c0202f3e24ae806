// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/sema/layout.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/flat_map.h"

namespace kiln::wgsl::front {
namespace {

// Sizes and alignments are bytes, in 64 bits: sums of two of 32 bits do not wrap.
uint64_t RoundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

// WGSL, "Alignment and Size": a vector of three is aligned as one of four and has the size of
// three.
Extent VectorExtent(uint64_t item, uint64_t rows) {
  const uint64_t aligned = rows == 3 ? 4 : rows;
  return {.align = aligned * item, .size = rows * item};
}

// What a uniform buffer wants of the place of a member.
// WGSL, "Address Space Layout Constraints": arrays and structs of uniform buffers are aligned
// to 16.
uint64_t UniformAlign(const Types& types, TypeId id) {
  const Type& type = types[id];
  const uint64_t align = ExtentOf(types, id).align;
  const bool aggregate = type.kind == TypeKind::kArray || type.kind == TypeKind::kStruct;
  return aggregate ? RoundUp(align, 16) : align;
}

// Sizes stop here rather than wrap, so that rules which compare them still compare them right.
constexpr uint64_t kMostBytes = 0xffffffffu;

}  // namespace

// In bytes; of a struct as LayOut left it. Types without a form in memory have none.
Extent ExtentOf(const Types& types, TypeId id) {
  const Type& type = types[id];
  const uint64_t item = type.scalar == ScalarKind::kF16 ? 2 : 4;
  switch (type.kind) {
    case TypeKind::kScalar:
    case TypeKind::kAtomic:
      return {.align = item, .size = item};
    case TypeKind::kVector:
      return VectorExtent(item, type.rows);
    // A matrix is an array of its columns, each at the alignment of a vector.
    case TypeKind::kMatrix: {
      const Extent column = VectorExtent(item, type.rows);
      return {.align = column.align, .size = RoundUp(column.size, column.align) * type.columns};
    }
    case TypeKind::kArray: {
      // An array without a count has the size of one item: that is the least that a buffer must
      // have. The item is asked once, so arrays of arrays cost what they are deep. The
      // product of two numbers of 32 bits does not wrap.
      const Extent item = ExtentOf(types, TypeId{type.element});
      const uint64_t stride = RoundUp(item.size, item.align);
      return {
          .align = item.align,
          .size = std::min(std::min(stride, kMostBytes) * std::max(type.count, 1u), kMostBytes)};
    }
    case TypeKind::kStruct: {
      const Struct& row = types.StructOf(id);
      return {.align = row.align, .size = row.size};
    }
    default:
      return {};
  }
}

// Items of an array lie one stride apart, the last one included.
uint64_t StrideOf(const Types& types, TypeId array) {
  const Extent item = ExtentOf(types, TypeId{types[array].element});
  return RoundUp(item.size, item.align);
}

// Members in order, each at the next place that its alignment allows. What @align and @size say
// counts for the member, not for its type. Structs in it were laid out before: declarations
// come in the order of their use.
void LayOut(Types& types, StructId id) {
  uint64_t at = 0;
  uint64_t most = 1;
  for (StructMember& member : types[id].members) {
    Extent extent = ExtentOf(types, member.type);
    extent.align = member.align != 0 ? member.align : extent.align;
    extent.size = member.size != 0 ? member.size : extent.size;
    at = RoundUp(at, extent.align);
    member.offset = static_cast<uint32_t>(std::min(at, kMostBytes));
    at = std::min(at + extent.size, kMostBytes);
    most = std::max(most, extent.align);
  }
  types[id].align = static_cast<uint32_t>(most);
  types[id].size = static_cast<uint32_t>(std::min(RoundUp(at, most), kMostBytes));
}

namespace {

// Of the members of one struct, not of what is in them.
// The two rules of uniform buffers for members: where they begin, and that behind a struct the
// next one is 16 bytes away.
std::optional<std::string> MembersFault(const Types& types, const Struct& row) {
  for (size_t i = 0; i < row.members.size(); ++i) {
    const StructMember& member = row.members[i];
    const uint64_t align = UniformAlign(types, member.type);
    if (member.offset % align != 0) {
      return fmt::format("member '{}' of '{}' is at {}, which is no multiple of {}", member.name,
                         row.name, member.offset, align);
    }
    if (i == 0 || types[row.members[i - 1].type].kind != TypeKind::kStruct) {
      continue;
    }
    const StructMember& last = row.members[i - 1];
    if (member.offset - last.offset < RoundUp(ExtentOf(types, last.type).size, 16)) {
      return fmt::format("member '{}' of '{}' is less than 16 bytes behind struct '{}'",
                         member.name, row.name, last.name);
    }
  }
  return std::nullopt;
}

// The type and all in it, each once.
// A walk with a stack of its own, as types may be nested as deep as the limit says. Each type
// is looked at once: structs in structs would otherwise be looked at as often as there are ways
// to them.
template <class Look>
std::optional<std::string> FirstFault(const Types& types, TypeId id, Look look) {
  std::vector<TypeId> pending{id};
  FlatMap<uint32_t, bool> seen;
  while (!pending.empty()) {
    const TypeId at = pending.back();
    pending.pop_back();
    if (!seen.Insert(at.value, true).second) {
      continue;
    }
    if (std::optional<std::string> fault = look(at)) {
      return fault;
    }
    if (types[at].kind == TypeKind::kArray) {
      pending.push_back(TypeId{types[at].element});
    } else if (types[at].kind == TypeKind::kStruct) {
      for (const StructMember& member : types.StructOf(at).members) {
        pending.push_back(member.type);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

// What WGSL itself forbids in a uniform buffer.
std::optional<std::string> UniformFault(const Types& types, TypeId id) {
  return FirstFault(types, id, [&](TypeId at) -> std::optional<std::string> {
    if (types[at].kind == TypeKind::kArray && StrideOf(types, at) % 16 != 0) {
      return fmt::format("items of '{}' are {} bytes apart, which is no multiple of 16",
                         types.Text(at), StrideOf(types, at));
    }
    return types[at].kind == TypeKind::kStruct ? MembersFault(types, types.StructOf(at))
                                               : std::nullopt;
  });
}

// What WGSL allows and SPIR-V's rules, or the IR, cannot say: it is refused (WGSL1008), not
// forbidden.
std::optional<std::string> LayoutRefusal(const Types& types, TypeId id, bool uniform) {
  return FirstFault(types, id, [&](TypeId at) -> std::optional<std::string> {
    const Type& type = types[at];
    // SPIR-V wants columns of matrices in uniform blocks 16 bytes apart; those of two f32 are
    // 8.
    if (uniform && type.kind == TypeKind::kMatrix && ExtentOf(types, at).align % 16 != 0) {
      return fmt::format("'{}' in a uniform buffer has columns that are not 16 bytes apart",
                         types.Text(at));
    }
    if (type.kind != TypeKind::kStruct) {
      return std::nullopt;
    }
    // The size that the struct has without what is written of it.
    // A struct as an item or member has the size that its members give it, so a larger one
    // cannot be told to the layout. The outermost may be larger: nothing lies behind it.
    const Struct& row = types.StructOf(at);
    uint64_t align = 1;
    for (const StructMember& member : row.members) {
      align = std::max(align, ExtentOf(types, member.type).align);
    }
    const StructMember& last = row.members.back();
    const uint64_t end = last.offset + ExtentOf(types, last.type).size;
    return at == id || RoundUp(end, align) == row.size
               ? std::nullopt
               : std::optional(fmt::format(
                     "the size of '{}' in an array or struct is that of @size or @align",
                     row.name));
  });
}

}  // namespace kiln::wgsl::front
