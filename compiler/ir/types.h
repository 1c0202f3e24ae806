// SPDX-License-Identifier: MIT
// Shader types and constants as rows, and the pool that makes equal specialised shapes equal ids.
//
// A module image has a table of *open* types: they may name a struct (kNamed), an array extent is a
// CexprId, and the type of an expression is kDeferred. Specialised IR uses the types of a Pool:
// extents are numbers, structs are shapes, nothing is named or deferred.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/string_pool.h"
#include "compiler/ir/function_versions.h"
#include "compiler/ir/ids.h"

namespace kiln::ir {

enum class TypeKind : uint8_t {
  kVoid,
  kVector,
  kMatrix,
  kArray,
  kRuntimeArray,
  kStruct,
  kSampler,
  kImage,
  kNamed,         // open only: element = StringId of a type name that is bound when reached
  kDeferred,      // open only
  kDeclared,      // open, typed modules only: element = DeclId of a struct of the same module
  kSampledImage,  // an image with its sampler: scalar and extent as of the image
  kAccel,
  kRayQuery,
};
enum class Scalar : uint8_t { kNone, kF32, kU32, kS32, kBool, kF16, kF64, kS64, kU64, kS16, kU16 };
enum class ImageDim : uint8_t { k2d, k3d, kCube, k1d, kBuffer, kSubpass };
enum class ImageFormat : uint8_t {
  kUnknown,
  kRgba32Float,
  kRgba16Float,
  kR32Float,
  kRgba8Unorm,
  kRgba8Snorm,
  kRgba32Sint,
  kRgba16Sint,
  kRgba8Sint,
  kR32Sint,
  kRgba32Uint,
  kRgba16Uint,
  kRgba8Uint,
  kR32Uint,
  kRg32Float,
  kRg16Float,
  kR11G11B10Float,
  kR16Float,
  kRgba16Unorm,
  kRgb10A2Unorm,
  kRg16Unorm,
  kRg8Unorm,
  kR16Unorm,
  kR8Unorm,
  kRgba16Snorm,
  kRg16Snorm,
  kRg8Snorm,
  kR16Snorm,
  kR8Snorm,
  kRg32Sint,
  kRg16Sint,
  kRg8Sint,
  kR16Sint,
  kR8Sint,
  kRgb10A2Uint,
  kRg32Uint,
  kRg16Uint,
  kRg8Uint,
  kR16Uint,
  kR8Uint,
  kR64Sint,
  kR64Uint,
};

// One type. A scalar is a vector with one row. Matrices are column-major: `rows` components in each
// of `columns` columns.
struct Type {
  TypeKind kind = TypeKind::kVoid;
  Scalar scalar = Scalar::kNone;  // of vectors, matrices; sampled type of images
  uint8_t rows = 0;
  uint8_t columns = 0;
  uint32_t element = 0;  // array: TypeId; struct: shape number in the Pool; named: StringId;
                         // declared: DeclId
  uint32_t extent = 0;   // array: CexprId (generic) or item count (specialised); image: PackImage()
  uint32_t flags = 0;    // reserved, zero
  friend bool operator==(const Type&, const Type&) = default;
};
static_assert(sizeof(Type) == 16 && std::is_trivially_copyable_v<Type>);

struct ImageTraits {
  ImageDim dim = ImageDim::k2d;
  bool arrayed = false;
  bool depth = false;
  bool storage = false;
  ImageFormat format = ImageFormat::kUnknown;
  bool unknown_depth = false;  // nobody knows whether it holds depths; then not `depth`
  bool multisampled = false;
  friend bool operator==(const ImageTraits&, const ImageTraits&) = default;
};
uint32_t PackImage(const ImageTraits& traits);
ImageTraits UnpackImage(uint32_t packed);

// 'f', 'u', 's', 'b', 'h', 'd', 'l', 'w', 'i', 'v'; '?' for kNone.
constexpr char ScalarLetter(Scalar scalar) { return "?fusbhdlwiv"[static_cast<size_t>(scalar)]; }

constexpr bool IsFloatScalar(Scalar scalar) {
  return scalar == Scalar::kF32 || scalar == Scalar::kF16 || scalar == Scalar::kF64;
}
constexpr bool IsSignedScalar(Scalar scalar) {
  return scalar == Scalar::kS32 || scalar == Scalar::kS64 || scalar == Scalar::kS16;
}
constexpr bool IsIntegerScalar(Scalar scalar) {
  return IsSignedScalar(scalar) || scalar == Scalar::kU32 || scalar == Scalar::kU64 ||
         scalar == Scalar::kU16;
}
// 16, 32 or 64; of booleans 1. Requires: not kNone.
constexpr uint32_t BitWidthOf(Scalar scalar) {
  if (scalar == Scalar::kF64 || scalar == Scalar::kS64 || scalar == Scalar::kU64) {
    return 64;
  }
  const bool half = scalar == Scalar::kF16 || scalar == Scalar::kS16 || scalar == Scalar::kU16;
  return half ? 16 : scalar == Scalar::kBool ? 1 : 32;
}
constexpr bool IsImage(TypeKind kind) {
  return kind == TypeKind::kImage || kind == TypeKind::kSampledImage;
}

constexpr Type VoidType() { return {}; }
constexpr Type VectorType(Scalar scalar, uint8_t rows) {
  return {TypeKind::kVector, scalar, rows, 1, 0, 0, 0};
}
constexpr Type MatrixType(Scalar scalar, uint8_t columns, uint8_t rows) {
  return {TypeKind::kMatrix, scalar, rows, columns, 0, 0, 0};
}
constexpr Type ArrayType(TypeId element, uint32_t extent) {
  return {TypeKind::kArray, Scalar::kNone, 0, 0, element.value, extent, 0};
}

// A constant of a specialised or generic type. Scalars hold their bits in `a` (float: IEEE-754;
// bool: 0 or 1; those of 16 bits: zero above), composites a ListId of ConstId in `a`. `0.0` and
// `-0.0` differ: equality is by bits.
struct Const {
  TypeId type{};
  uint32_t a = 0;
  uint32_t composite = 0;  // 0 scalar, 1 composite
  uint32_t high = 0;       // the upper half of a scalar of 64 bits, else zero
  friend bool operator==(const Const&, const Const&) = default;

  uint64_t bits() const { return uint64_t{high} << 32 | a; }  // of a scalar
};
static_assert(sizeof(Const) == 16 && std::is_trivially_copyable_v<Const>);

enum class MatrixOrder : uint32_t { kColumn, kRow };
inline constexpr uint32_t kUnwritten = 0xffffffffu;

// One member of a specialised struct: names are part of the shape because they reach OpMemberName,
// and so is what the author wrote about its form in memory.
struct ShapeMember {
  StringId name{};
  TypeId type{};
  uint32_t offset = kUnwritten;
  MatrixOrder order = MatrixOrder::kColumn;
  uint32_t stride = 0;  // of a matrix or array; 0: not written
  friend bool operator==(const ShapeMember&, const ShapeMember&) = default;
};
static_assert(sizeof(ShapeMember) == 20);  // hashed as bytes
struct Shape {
  StringId name{};
  uint32_t first = 0;  // into the pool's member array
  uint32_t count = 0;
};

// Interns specialised types, struct shapes, constants and strings. Append-only: an id stays valid
// as long as the pool. Ids depend on the order of interning, so they are compared for equality
// only. Owned by whoever owns the specialised units (Units, VariantAssembler). Not thread-safe.
class Pool {
 public:
  Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  TypeId Intern(const Type& type);  // not for structs
  TypeId InternStruct(std::string_view name, std::span<const ShapeMember> members);
  ConstId InternScalar(TypeId type, uint32_t bits) { return InternWide(type, bits); }
  ConstId InternWide(TypeId type, uint64_t bits);
  ConstId InternComposite(TypeId type, std::span<const ConstId> parts);
  StringId InternText(std::string_view text);

  const Type& operator[](TypeId id) const { return types_[id.value]; }
  const Const& operator[](ConstId id) const { return consts_[id.value]; }
  std::string_view Text(StringId id) const { return strings_[id]; }
  const Shape& ShapeOf(TypeId id) const {
    return shapes_[types_[id.value].element];
  }                                                       // Requires: a struct
  std::span<const ShapeMember> Members(TypeId id) const;  // Requires: a struct
  std::span<const ConstId> Parts(ConstId id) const;       // Requires: a composite
  uint32_t type_count() const { return static_cast<uint32_t>(types_.size()); }
  uint32_t const_count() const { return static_cast<uint32_t>(consts_.size()); }

  // Versions of functions, which live as long as the types and constants that they are made of.
  FunctionVersions& versions() { return versions_; }
  const FunctionVersions& versions() const { return versions_; }

  // The types every program uses, interned by the constructor.
  TypeId void_type() const { return TypeId{0}; }
  TypeId bool_type() const { return Vector(Scalar::kBool, 1); }
  TypeId Vector(Scalar scalar, uint32_t rows) const;  // rows 1..4, O(1)
  TypeId Vector(const Type& vector) const { return Vector(vector.scalar, vector.rows); }
  TypeId Matrix(Scalar scalar, uint32_t columns, uint32_t rows);
  // One that the constructor interned. Requires: of floats.
  TypeId FloatMatrix(Scalar scalar, uint32_t columns, uint32_t rows) const;

 private:
  std::vector<Type> types_;
  std::vector<Shape> shapes_;
  std::vector<ShapeMember> members_;
  std::vector<Const> consts_;
  std::vector<ConstId> parts_;
  StringPool<StringId> strings_;
  InternIndex type_index_;
  InternIndex shape_index_;  // over struct types
  InternIndex const_index_;
  FunctionVersions versions_;
};

// "f4", "f3x3", "gust_t", "f4[3]", "image_color_2d[4]", "void", "bool": the spelling of messages,
// metadata and dumps (RPL's, because it is the shortest).
std::string TypeText(const Pool& pool, TypeId id);

}  // namespace kiln::ir
