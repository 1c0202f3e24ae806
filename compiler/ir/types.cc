// SPDX-License-Identifier: MIT
// The pool of specialised types, shapes and constants, and the spelling of types.
#include "compiler/ir/types.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/digest.h"
#include "compiler/ir/text/spelling.h"

namespace kiln::ir {
namespace {

// ImageTraits as bits: dim 0..1 and 5, arrayed 2, depth 3, storage 4, unknown depth 6, multisampled
// 7, format 8..15.
constexpr uint32_t kArrayedBit = 1u << 2;
constexpr uint32_t kDepthBit = 1u << 3;
constexpr uint32_t kStorageBit = 1u << 4;
constexpr uint32_t kHighDimBit = 1u << 5;
constexpr uint32_t kUnknownDepthBit = 1u << 6;
constexpr uint32_t kMultisampledBit = 1u << 7;

constexpr uint32_t kScalarKinds = 10;  // enumerators of Scalar behind kNone
constexpr uint32_t kMaxRows = 4;
// The order is part of the ids that FloatMatrix computes.
constexpr Scalar kFloats[] = {Scalar::kF32, Scalar::kF16, Scalar::kF64};
constexpr uint32_t kFirstMatrix = 1 + kScalarKinds * kMaxRows;

// Rows have no padding, so their bytes may be hashed.
template <class Row>
uint64_t HashRow(const Row& row) {
  return Hash64(std::as_bytes(std::span(&row, 1)));
}

// The seed is what stands before the rows, such as a type or a name.
template <class T>
uint64_t HashRows(uint64_t seed, std::span<const T> rows) {
  return Mix64(seed) ^ Hash64(std::as_bytes(rows));
}

}  // namespace

// One word that is compared and hashed with the rest of a type.
uint32_t PackImage(const ImageTraits& traits) {
  const auto dim = static_cast<uint32_t>(traits.dim);
  return (dim & 3u) | ((dim & 4u) != 0 ? kHighDimBit : 0) | (traits.arrayed ? kArrayedBit : 0) |
         (traits.depth ? kDepthBit : 0) | (traits.storage ? kStorageBit : 0) |
         (traits.unknown_depth ? kUnknownDepthBit : 0) |
         (traits.multisampled ? kMultisampledBit : 0) | static_cast<uint32_t>(traits.format) << 8;
}

ImageTraits UnpackImage(uint32_t packed) {
  return {.dim = static_cast<ImageDim>((packed & 3u) | ((packed & kHighDimBit) != 0 ? 4u : 0u)),
          .arrayed = (packed & kArrayedBit) != 0,
          .depth = (packed & kDepthBit) != 0,
          .storage = (packed & kStorageBit) != 0,
          .format = static_cast<ImageFormat>(packed >> 8 & 0xffu),
          .unknown_depth = (packed & kUnknownDepthBit) != 0,
          .multisampled = (packed & kMultisampledBit) != 0};
}

// Vectors and matrices of floats are interned first and in a fixed order, so their ids are computed
// by Vector and FloatMatrix and never looked up.
Pool::Pool() {
  Intern(VoidType());
  for (uint32_t scalar = 1; scalar <= kScalarKinds; ++scalar) {
    for (uint8_t rows = 1; rows <= kMaxRows; ++rows) {
      Intern(VectorType(static_cast<Scalar>(scalar), rows));
    }
  }
  for (const Scalar scalar : kFloats) {
    for (uint8_t columns = 2; columns <= kMaxRows; ++columns) {
      for (uint8_t rows = 2; rows <= kMaxRows; ++rows) {
        Intern(MatrixType(scalar, columns, rows));
      }
    }
  }
}

// Ids follow the order of the constructor: void, then scalars, each with its one to four rows.
TypeId Pool::Vector(Scalar scalar, uint32_t rows) const {
  KILN_CHECK(scalar != Scalar::kNone && rows >= 1 && rows <= kMaxRows, "{} rows", rows);
  return TypeId{1 + (static_cast<uint32_t>(scalar) - 1) * kMaxRows + (rows - 1)};
}

// Matrices of integers and booleans have no fixed ids, so this one interns.
TypeId Pool::Matrix(Scalar scalar, uint32_t columns, uint32_t rows) {
  return Intern(MatrixType(scalar, static_cast<uint8_t>(columns), static_cast<uint8_t>(rows)));
}

TypeId Pool::FloatMatrix(Scalar scalar, uint32_t columns, uint32_t rows) const {
  const auto* of = std::ranges::find(kFloats, scalar);
  KILN_CHECK(of != std::end(kFloats) && columns >= 2 && columns <= kMaxRows && rows >= 2 &&
                 rows <= kMaxRows,
             "matrix of {} columns and {} rows", columns, rows);
  // Nine matrices for each scalar: two to four columns of two to four rows.
  const auto first = static_cast<uint32_t>(of - std::begin(kFloats)) * 9;
  return TypeId{kFirstMatrix + first + (columns - 2) * 3 + (rows - 2)};
}

// Structs have a function of their own, and the named types of generic modules never come into this
// pool.
TypeId Pool::Intern(const Type& type) {
  KILN_CHECK(type.kind != TypeKind::kStruct && type.kind != TypeKind::kNamed &&
                 type.kind != TypeKind::kDeferred && type.kind != TypeKind::kDeclared,
             "type kind {}", type.kind);
  return TypeId{type_index_.FindOrAdd(
      HashRow(type), [&](uint32_t i) { return types_[i] == type; },
      [&] {
        types_.push_back(type);
        return type_count() - 1;
      })};
}

// Structs are equal by name and members. Two declarations of the same struct in two modules are one
// type, and code of both may share its values.
TypeId Pool::InternStruct(std::string_view name, std::span<const ShapeMember> members) {
  const StringId name_id = InternText(name);
  return TypeId{shape_index_.FindOrAdd(
      HashRows(name_id.value, members),
      [&](uint32_t i) {
        return ShapeOf(TypeId{i}).name == name_id &&
               std::ranges::equal(Members(TypeId{i}), members);
      },
      [&] {
        const auto first = static_cast<uint32_t>(members_.size());
        members_.insert(members_.end(), members.begin(), members.end());
        types_.push_back(
            {.kind = TypeKind::kStruct, .element = static_cast<uint32_t>(shapes_.size())});
        shapes_.push_back(
            {.name = name_id, .first = first, .count = static_cast<uint32_t>(members.size())});
        return type_count() - 1;
      })};
}

// By bits, like the constants of a module.
ConstId Pool::InternWide(TypeId type, uint64_t bits) {
  const Const row{
      .type = type, .a = static_cast<uint32_t>(bits), .high = static_cast<uint32_t>(bits >> 32)};
  return ConstId{const_index_.FindOrAdd(
      HashRow(row), [&](uint32_t i) { return consts_[i] == row; },
      [&] {
        consts_.push_back(row);
        return const_count() - 1;
      })};
}

// Parts are interned before their whole, thus a composite is equal by the ids of its parts.
ConstId Pool::InternComposite(TypeId type, std::span<const ConstId> parts) {
  return ConstId{const_index_.FindOrAdd(
      HashRows(type.value, parts),
      [&](uint32_t i) {
        return consts_[i].composite != 0 && consts_[i].type == type &&
               std::ranges::equal(Parts(ConstId{i}), parts);
      },
      [&] {
        // The count stands before the parts, as in lists of a module.
        const auto list = static_cast<uint32_t>(parts_.size());
        parts_.push_back(ConstId{static_cast<uint32_t>(parts.size())});
        parts_.insert(parts_.end(), parts.begin(), parts.end());
        consts_.push_back({.type = type, .a = list, .composite = 1});
        return const_count() - 1;
      })};
}

// Texts are kept for the life of the pool.
StringId Pool::InternText(std::string_view text) { return strings_.Intern(text); }

std::span<const ShapeMember> Pool::Members(TypeId id) const {
  const Shape& shape = ShapeOf(id);
  return std::span(members_).subspan(shape.first, shape.count);
}

std::span<const ConstId> Pool::Parts(ConstId id) const {
  const uint32_t list = consts_[id.value].a;
  return std::span(parts_).subspan(list + 1, parts_[list].value);
}

// As messages call a type. Not unique: two structs may have one name.
std::string TypeText(const Pool& pool, TypeId id) {
  const Type& type = pool[id];
  if (type.kind == TypeKind::kStruct) {
    return std::string(pool.Text(pool.ShapeOf(id).name));
  }
  if (type.kind == TypeKind::kRuntimeArray) {
    return TypeText(pool, TypeId{type.element}) + "...";
  }
  if (type.kind == TypeKind::kArray) {
    // the extents follow the innermost item, outermost extent first
    std::string extents;
    for (; pool[id].kind == TypeKind::kArray; id = TypeId{pool[id].element}) {
      extents += fmt::format("[{}]", pool[id].extent);
    }
    return TypeText(pool, id) + extents;
  }
  return LeafText(type);
}

}  // namespace kiln::ir
