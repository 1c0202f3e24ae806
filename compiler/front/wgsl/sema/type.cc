// SPDX-License-Identifier: MIT
// Types are interned: equal types have one id, so comparing types is comparing numbers. What a
// type may be used for is computed once, when its row is made, from the facts of its parts. A
// struct must therefore be complete, with its members, before its type is interned;
// check/declaration does that.
#include "compiler/front/wgsl/sema/type.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace kiln::wgsl::front {
namespace {

// All fields that equality looks at, packed so that small ones do not overlap. Equal types have
// equal hashes; which others share one does not matter.
uint64_t HashOf(const Type& type) {
  const uint64_t small =
      static_cast<uint64_t>(type.kind) | static_cast<uint64_t>(type.scalar) << 8 |
      uint64_t{type.rows} << 16 | uint64_t{type.columns} << 20 |
      static_cast<uint64_t>(type.space) << 24 | static_cast<uint64_t>(type.access) << 28 |
      static_cast<uint64_t>(type.texture) << 32 | static_cast<uint64_t>(type.dim) << 36 |
      static_cast<uint64_t>(type.format) << 40;
  return Mix64(small ^ Mix64(uint64_t{type.element} << 32 | type.count) ^ Mix64(type.open));
}

// As texture types are spelled. In the order of TextureDim.
std::string_view DimText(TextureDim dim) {
  static constexpr std::string_view kTexts[] = {"1d", "2d", "2d_array", "3d", "cube", "cube_array"};
  return kTexts[static_cast<size_t>(dim)];
}

// As the source spells a texel format.
std::string_view FormatText(ir::ImageFormat format) {
  switch (format) {
#define KILN_WGSL_FORMAT(name, enumerator, channel, read_write) \
  case ir::ImageFormat::k##enumerator:                          \
    return name;
#include "compiler/front/wgsl/sema/texel_formats.def"
    default:
      return "unknown";
  }
}

}  // namespace

std::string_view TextOf(ScalarKind kind) {
  static constexpr std::string_view kTexts[] = {
      "bool", "abstract-int", "abstract-float", "i32", "u32", "f32", "f16"};
  return kTexts[static_cast<size_t>(kind)];
}
std::string_view TextOf(AddressSpace space) {
  static constexpr std::string_view kTexts[] = {"function", "private", "workgroup",
                                                "uniform",  "storage", "handle"};
  return kTexts[static_cast<size_t>(space)];
}
std::string_view TextOf(AccessMode mode) {
  static constexpr std::string_view kTexts[] = {"read", "write", "read_write"};
  return kTexts[static_cast<size_t>(mode)];
}

// The first two rows are those that Failed() and Void() name by number.
Types::Types() {
  Intern({.kind = TypeKind::kFailed});
  Intern({.kind = TypeKind::kVoid});
}

// A row is added behind its parts, so what holds for these is known, and types have no cycles.
TypeId Types::Intern(const Type& type) {
  return TypeId{index_.FindOrAdd(
      HashOf(type), [&](uint32_t row) { return rows_[row] == type; },
      [&] {
        facts_.push_back(FactsFor(type));
        rows_.push_back(type);
        return static_cast<uint32_t>(rows_.size() - 1);
      })};
}

// A vector of one row is a scalar, so callers need not ask.
TypeId Types::Vector(ScalarKind kind, uint32_t rows) {
  return rows == 1
             ? Scalar(kind)
             : Intern(
                   {.kind = TypeKind::kVector, .scalar = kind, .rows = static_cast<uint8_t>(rows)});
}
// WGSL names columns first, and so does the row.
TypeId Types::Matrix(ScalarKind kind, uint32_t columns, uint32_t rows) {
  return Intern({.kind = TypeKind::kMatrix,
                 .scalar = kind,
                 .rows = static_cast<uint8_t>(rows),
                 .columns = static_cast<uint8_t>(columns)});
}
// A count of 0 stands for an array of runtime size; `open` is an override that says the count.
TypeId Types::Array(TypeId element, uint32_t count, uint32_t open) {
  return Intern({.kind = TypeKind::kArray, .element = element.value, .count = count, .open = open});
}
// The access mode is part of the type: a pointer to read is another type than one to write.
TypeId Types::Pointer(TypeId to, AddressSpace space, AccessMode access) {
  return Intern(
      {.kind = TypeKind::kPointer, .space = space, .access = access, .element = to.value});
}
// Structs are told apart by where they are declared, never by their members; so each has a row.
StructId Types::Add(Struct row) {
  structs_.push_back(std::move(row));
  return StructId{static_cast<uint32_t>(structs_.size() - 1)};
}

// As a source would write it. Recursion is as deep as types are nested, which has a limit.
std::string Types::Text(TypeId id) const {
  const Type& type = rows_[id.value];
  switch (type.kind) {
    case TypeKind::kFailed:
      return "unknown";
    case TypeKind::kVoid:
      return "nothing";
    case TypeKind::kScalar:
      return std::string(TextOf(type.scalar));
    case TypeKind::kVector:
      return fmt::format("vec{}<{}>", type.rows, TextOf(type.scalar));
    case TypeKind::kMatrix:
      return fmt::format("mat{}x{}<{}>", type.columns, type.rows, TextOf(type.scalar));
    // A count that only an override says is not written: its value is one of the variant.
    case TypeKind::kArray:
      if (type.open != kNoRow) {
        return fmt::format("array<{}, override>", Text(TypeId{type.element}));
      }
      return type.count == 0 ? fmt::format("array<{}>", Text(TypeId{type.element}))
                             : fmt::format("array<{}, {}>", Text(TypeId{type.element}), type.count);
    case TypeKind::kStruct:
      return structs_[type.element].name;
    case TypeKind::kAtomic:
      return fmt::format("atomic<{}>", TextOf(type.scalar));
    case TypeKind::kPointer:
      return fmt::format("ptr<{}, {}, {}>", TextOf(type.space), Text(TypeId{type.element}),
                         TextOf(type.access));
    case TypeKind::kSampler:
      return type.count == 1 ? "sampler_comparison" : "sampler";
    case TypeKind::kTexture:
      break;
  }
  switch (type.texture) {
    case TextureClass::kSampled:
      return fmt::format("texture_{}<{}>", DimText(type.dim), TextOf(type.scalar));
    case TextureClass::kMultisampled:
      return fmt::format("texture_multisampled_2d<{}>", TextOf(type.scalar));
    case TextureClass::kDepth:
      return fmt::format("texture_depth_{}", DimText(type.dim));
    case TextureClass::kDepthMultisampled:
      return "texture_depth_multisampled_2d";
    case TextureClass::kStorage:
      return fmt::format("texture_storage_{}<{}, {}>", DimText(type.dim), FormatText(type.format),
                         TextOf(type.access));
  }
  return "unknown";
}

// What an index gives. Failed for types that have no items.
TypeId Types::ElementOf(TypeId id) {
  const Type type = rows_[id.value];
  switch (type.kind) {
    case TypeKind::kVector:
      return Scalar(type.scalar);
    case TypeKind::kMatrix:
      return Vector(type.scalar, type.rows);
    case TypeKind::kArray:
      return TypeId{type.element};
    default:
      return Failed();
  }
}

// Zero for types without items, and for arrays whose count is not known here.
uint32_t Types::CountOf(TypeId id) const {
  const Type& type = rows_[id.value];
  switch (type.kind) {
    case TypeKind::kVector:
      return type.rows;
    case TypeKind::kMatrix:
      return type.columns;
    case TypeKind::kArray:
      return type.count;
    default:
      return 0;
  }
}

// Holds what each of its parts holds; is what all of them are.
// Facts of a whole from those of its parts, so that no question walks down a type. Two kinds of
// bits: those of kAll must be true of each part, the others are true if they are of one.
void Types::AddPart(Facts& facts, TypeId part) const {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  constexpr uint8_t kAll = kConstructible | kHostShareable | kPlain | kFixed;
  const Facts& inner = facts_[part.value];
  facts.depth = std::max(facts.depth, 1 + inner.depth);
  facts.leaves =
      static_cast<uint32_t>(std::min<uint64_t>(kMost, uint64_t{facts.leaves} + inner.leaves));
  facts.bits = static_cast<uint8_t>((facts.bits & (inner.bits | ~kAll)) | (inner.bits & ~kAll));
}

// Called once for each row, when it is made.
Types::Facts Types::FactsFor(const Type& type) const {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  constexpr uint8_t kAll = kConstructible | kHostShareable | kPlain | kFixed;
  Facts facts;
  switch (type.kind) {
    case TypeKind::kScalar:
    case TypeKind::kVector:
    case TypeKind::kMatrix:
      facts.leaves = uint32_t{type.rows} * type.columns;
      facts.bits =
          static_cast<uint8_t>(type.scalar == ScalarKind::kBool ? kAll & ~kHostShareable : kAll);
      break;
    case TypeKind::kAtomic:
      facts.bits = kHostShareable | kPlain | kFixed | kHoldsAtomic;
      break;
    // Numbers saturate, so that arrays of arrays of arrays do not wrap to few leaves.
    case TypeKind::kArray:
      facts.leaves = 0;
      facts.bits = kAll;
      AddPart(facts, TypeId{type.element});
      facts.leaves =
          static_cast<uint32_t>(std::min(kMost, uint64_t{facts.leaves} * std::max(type.count, 1u)));
      // Nothing is made of such an array outside of workgroup memory, which has no form in
      // buffers.
      if (type.open != kNoRow) {
        facts.bits = static_cast<uint8_t>((facts.bits & ~(kConstructible | kHostShareable)) |
                                          kHoldsOverride);
      } else if (type.count == 0) {
        // An array without a count is no value and has no fixed size.
        facts.bits = static_cast<uint8_t>(facts.bits & ~(kConstructible | kFixed));
      }
      break;
    case TypeKind::kStruct:
      facts.leaves = 0;
      facts.bits = kAll;
      for (const StructMember& member : structs_[type.element].members) {
        AddPart(facts, member.type);
      }
      break;
    case TypeKind::kPointer:
      facts.depth = 1 + facts_[type.element].depth;
      break;
    default:
      break;
  }
  return facts;
}

// Scalars, vectors and matrices are neighbours in the enumeration.
bool Types::IsNumeric(TypeId id) const {
  const Type& type = rows_[id.value];
  return type.kind >= TypeKind::kScalar && type.kind <= TypeKind::kMatrix &&
         type.scalar != ScalarKind::kBool;
}

bool Types::IsAbstract(TypeId id) const {
  TypeId at = id;
  while (rows_[at.value].kind == TypeKind::kArray) {
    at = TypeId{rows_[at.value].element};
  }
  const Type& type = rows_[at.value];
  // Only structs that functions give could hold abstract numbers; members of declared ones are
  // concrete.
  if (type.kind == TypeKind::kStruct) {
    const Struct& row = structs_[type.element];
    return row.is_inbuilt && IsAbstract(row.members[0].type);
  }
  return type.kind >= TypeKind::kScalar && type.kind <= TypeKind::kMatrix &&
         front::IsAbstract(type.scalar);
}

// WGSL, "Abstract Types": an abstract integer becomes i32, an abstract float f32.
TypeId Types::Concrete(TypeId id) {
  const Type type = rows_[id.value];
  switch (type.kind) {
    case TypeKind::kScalar:
    case TypeKind::kVector:
    case TypeKind::kMatrix:
      return type.scalar == ScalarKind::kAbstractInt     ? WithScalar(id, ScalarKind::kI32)
             : type.scalar == ScalarKind::kAbstractFloat ? WithScalar(id, ScalarKind::kF32)
                                                         : id;
    case TypeKind::kArray:
      return Array(Concrete(TypeId{type.element}), type.count, type.open);
    default:
      return id;
  }
}

// Goes down arrays, whose items are numbers in the end.
TypeId Types::WithScalar(TypeId id, ScalarKind kind) {
  Type type = rows_[id.value];
  if (type.kind == TypeKind::kArray) {
    return Array(WithScalar(TypeId{type.element}, kind), type.count, type.open);
  }
  type.scalar = kind;
  return Intern(type);
}

}  // namespace kiln::wgsl::front
