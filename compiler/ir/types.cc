// SPDX-License-Identifier: MIT
// The pool of closed types, shapes and constants, and the spelling of types.
#include "compiler/ir/types.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/digest.h"

namespace kiln::ir {
namespace {

// ImageTraits as bits: dim 0..1, arrayed 2, depth 3, storage 4, format 8..15.
constexpr uint32_t kArrayedBit = 1u << 2;
constexpr uint32_t kDepthBit = 1u << 3;
constexpr uint32_t kStorageBit = 1u << 4;

constexpr uint32_t kScalarKinds = 5;  // enumerators of Scalar behind kNone
constexpr uint32_t kMaxRows = 4;

template <class Row>
uint64_t HashRow(const Row& row) {
  return Hash64(std::as_bytes(std::span(&row, 1)));
}

template <class T>
uint64_t HashRows(uint64_t seed, std::span<const T> rows) {
  return Mix64(seed) ^ Hash64(std::as_bytes(rows));
}

std::string ImageText(const Type& type) {
  const ImageTraits traits = UnpackImage(type.extent);
  std::string_view dim = "2d";
  if (traits.dim == ImageDim::k3d) {
    dim = "3d";
  } else if (traits.dim == ImageDim::kCube) {
    dim = "cube";
  }
  const std::string_view array = traits.arrayed ? "_array" : "";
  if (traits.storage) {
    return fmt::format("storage_image_{}{}<{}>", dim, array, ImageFormatName(traits.format));
  }
  return fmt::format("image_{}_{}{}", traits.depth ? "depth" : "color", dim, array);
}

}  // namespace

uint32_t PackImage(const ImageTraits& traits) {
  return static_cast<uint32_t>(traits.dim) | (traits.arrayed ? kArrayedBit : 0) |
         (traits.depth ? kDepthBit : 0) | (traits.storage ? kStorageBit : 0) |
         static_cast<uint32_t>(traits.format) << 8;
}

ImageTraits UnpackImage(uint32_t packed) {
  return {.dim = static_cast<ImageDim>(packed & 3u),
          .arrayed = (packed & kArrayedBit) != 0,
          .depth = (packed & kDepthBit) != 0,
          .storage = (packed & kStorageBit) != 0,
          .format = static_cast<ImageFormat>(packed >> 8 & 0xffu)};
}

std::string_view ImageFormatName(ImageFormat format) {
  switch (format) {
    case ImageFormat::kUnknown:
      return "unknown";
    case ImageFormat::kRgba32Float:
      return "rgba32_float";
    case ImageFormat::kRgba16Float:
      return "rgba16_float";
    case ImageFormat::kR32Float:
      return "r32_float";
    case ImageFormat::kRgba8Unorm:
      return "rgba8_unorm";
    case ImageFormat::kRgba8Snorm:
      return "rgba8_snorm";
    case ImageFormat::kRgba32Sint:
      return "rgba32_sint";
    case ImageFormat::kRgba16Sint:
      return "rgba16_sint";
    case ImageFormat::kRgba8Sint:
      return "rgba8_sint";
    case ImageFormat::kR32Sint:
      return "r32_sint";
    case ImageFormat::kRgba32Uint:
      return "rgba32_uint";
    case ImageFormat::kRgba16Uint:
      return "rgba16_uint";
    case ImageFormat::kRgba8Uint:
      return "rgba8_uint";
    case ImageFormat::kR32Uint:
      return "r32_uint";
  }
  KILN_UNREACHABLE();
}

char ScalarLetter(Scalar scalar) {
  switch (scalar) {
    case Scalar::kF32:
      return 'f';
    case Scalar::kU32:
      return 'u';
    case Scalar::kS32:
      return 's';
    case Scalar::kBool:
      return 'b';
    case Scalar::kF16:
      return 'h';
    case Scalar::kNone:
      break;
  }
  KILN_UNREACHABLE();
}

Pool::Pool() {
  Intern(VoidType());
  for (uint32_t scalar = 1; scalar <= kScalarKinds; ++scalar) {
    for (uint8_t rows = 1; rows <= kMaxRows; ++rows) {
      Intern(VectorType(static_cast<Scalar>(scalar), rows));
    }
  }
}

TypeId Pool::Vector(Scalar scalar, uint32_t rows) const {
  KILN_CHECK(scalar != Scalar::kNone && rows >= 1 && rows <= kMaxRows, "{} rows", rows);
  return TypeId{1 + (static_cast<uint32_t>(scalar) - 1) * kMaxRows + (rows - 1)};
}

TypeId Pool::Matrix(Scalar scalar, uint32_t columns, uint32_t rows) {
  return Intern(MatrixType(scalar, static_cast<uint8_t>(columns), static_cast<uint8_t>(rows)));
}

TypeId Pool::Intern(const Type& type) {
  KILN_CHECK(type.kind != TypeKind::kStruct && type.kind != TypeKind::kNamed &&
                 type.kind != TypeKind::kDeferred,
             "type kind {}", type.kind);
  return TypeId{type_index_.FindOrAdd(
      HashRow(type), [&](uint32_t i) { return types_[i] == type; },
      [&] {
        types_.push_back(type);
        return type_count() - 1;
      })};
}

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

ConstId Pool::InternScalar(TypeId type, uint32_t bits) {
  const Const row{.type = type, .a = bits};
  return ConstId{const_index_.FindOrAdd(
      HashRow(row), [&](uint32_t i) { return consts_[i] == row; },
      [&] {
        consts_.push_back(row);
        return const_count() - 1;
      })};
}

ConstId Pool::InternComposite(TypeId type, std::span<const ConstId> parts) {
  return ConstId{const_index_.FindOrAdd(
      HashRows(type.value, parts),
      [&](uint32_t i) {
        return consts_[i].composite != 0 && consts_[i].type == type &&
               std::ranges::equal(Parts(ConstId{i}), parts);
      },
      [&] {
        const auto list = static_cast<uint32_t>(parts_.size());
        parts_.push_back(ConstId{static_cast<uint32_t>(parts.size())});
        parts_.insert(parts_.end(), parts.begin(), parts.end());
        consts_.push_back({.type = type, .a = list, .composite = 1});
        return const_count() - 1;
      })};
}

StringId Pool::InternText(std::string_view text) { return strings_.Intern(text); }

std::span<const ShapeMember> Pool::Members(TypeId id) const {
  const Shape& shape = ShapeOf(id);
  return std::span(members_).subspan(shape.first, shape.count);
}

std::span<const ConstId> Pool::Parts(ConstId id) const {
  const uint32_t list = consts_[id.value].a;
  return std::span(parts_).subspan(list + 1, parts_[list].value);
}

std::string TypeText(const Pool& pool, TypeId id) {
  const Type& type = pool[id];
  switch (type.kind) {
    case TypeKind::kVoid:
      return "void";
    case TypeKind::kVector:
      if (type.scalar == Scalar::kBool && type.rows == 1) {
        return "bool";
      }
      return fmt::format("{}{}", ScalarLetter(type.scalar), type.rows);
    case TypeKind::kMatrix:
      return fmt::format("{}{}x{}", ScalarLetter(type.scalar), type.columns, type.rows);
    case TypeKind::kArray: {
      // the extents follow the innermost item, outermost extent first
      std::string extents;
      TypeId item = id;
      while (pool[item].kind == TypeKind::kArray) {
        extents += fmt::format("[{}]", pool[item].extent);
        item = TypeId{pool[item].element};
      }
      return TypeText(pool, item) + extents;
    }
    case TypeKind::kRuntimeArray:
      return TypeText(pool, TypeId{type.element}) + "...";
    case TypeKind::kStruct:
      return std::string(pool.Text(pool.ShapeOf(id).name));
    case TypeKind::kSampler:
      return "sampler";
    case TypeKind::kImage:
      return ImageText(type);
    case TypeKind::kNamed:
    case TypeKind::kDeferred:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::ir
