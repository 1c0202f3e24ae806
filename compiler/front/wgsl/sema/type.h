// SPDX-License-Identifier: MIT
// Types of WGSL as interned rows: equal types have equal ids. References are no types here: whether
// an expression denotes memory is a fact of the expression. See spec/wgsl 5.2
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/id.h"
#include "compiler/ir/types.h"

namespace kiln::wgsl::front {

using TypeId = Id<struct WgslTypeTag>;
using StructId = Id<struct WgslStructTag>;

inline constexpr uint32_t kNoRow = Id<void>::kNone;

enum class TypeKind : uint8_t {
  kFailed,  // an error was said
  kVoid,
  kScalar,
  kVector,   // rows of a scalar
  kMatrix,   // columns of vectors of rows
  kArray,    // count items of element; 0: as many as memory has; `open`: an override says
  kStruct,   // element: StructId
  kAtomic,   // of a scalar
  kPointer,  // to element
  kTexture,
  kSampler,  // count 1: for comparison
};
// In the order in which conversions prefer them.
enum class ScalarKind : uint8_t { kBool, kAbstractInt, kAbstractFloat, kI32, kU32, kF32, kF16 };
enum class AddressSpace : uint8_t {
  kFunction,
  kPrivate,
  kWorkgroup,
  kUniform,
  kStorage,
  kHandle,
};
enum class AccessMode : uint8_t { kRead, kWrite, kReadWrite };
enum class TextureClass : uint8_t { kSampled, kMultisampled, kDepth, kDepthMultisampled, kStorage };
enum class TextureDim : uint8_t { k1d, k2d, k2dArray, k3d, kCube, kCubeArray };

struct Type {
  TypeKind kind = TypeKind::kFailed;
  ScalarKind scalar = ScalarKind::kBool;  // of scalars, vectors, matrices, atomics, textures
  uint8_t rows = 1;
  uint8_t columns = 1;
  AddressSpace space = AddressSpace::kFunction;        // of pointers
  AccessMode access = AccessMode::kRead;               // of pointers and storage textures
  TextureClass texture = TextureClass::kSampled;       // of textures
  TextureDim dim = TextureDim::k2d;                    // of textures
  ir::ImageFormat format = ir::ImageFormat::kUnknown;  // of storage textures
  uint32_t element = 0;
  uint32_t count = 0;
  uint32_t open = kNoRow;  // of arrays: the expression that has the count

  friend bool operator==(const Type&, const Type&) = default;
};

constexpr bool IsAbstract(ScalarKind kind) {
  return kind == ScalarKind::kAbstractInt || kind == ScalarKind::kAbstractFloat;
}
constexpr bool IsFloat(ScalarKind kind) {
  return kind == ScalarKind::kAbstractFloat || kind >= ScalarKind::kF32;
}
constexpr bool IsInteger(ScalarKind kind) {
  return kind == ScalarKind::kAbstractInt || kind == ScalarKind::kI32 || kind == ScalarKind::kU32;
}
std::string_view TextOf(ScalarKind kind);
std::string_view TextOf(AddressSpace space);
std::string_view TextOf(AccessMode mode);

struct StructMember {
  std::string_view name;
  TypeId type;
  uint32_t attributes = kNoRow;  // row of the unit
  uint32_t align = 0, size = 0;  // as written; 0: not
  uint32_t offset = 0;           // LayOut
};
struct Struct {
  std::string name;
  uint32_t token = 0;
  std::vector<StructMember> members;
  uint32_t align = 1, size = 0;  // LayOut; size 0: ends in an array without a count
  bool is_inbuilt = false;       // results of functions
};

class Types {
 public:
  Types();

  TypeId Intern(const Type& type);
  TypeId Failed() const { return TypeId{0}; }
  TypeId Void() const { return TypeId{1}; }
  TypeId Scalar(ScalarKind kind) { return Intern({.kind = TypeKind::kScalar, .scalar = kind}); }
  // A scalar of one row.
  TypeId Vector(ScalarKind kind, uint32_t rows);
  TypeId Matrix(ScalarKind kind, uint32_t columns, uint32_t rows);
  TypeId Array(TypeId element, uint32_t count, uint32_t open = kNoRow);
  TypeId Pointer(TypeId to, AddressSpace space, AccessMode access);
  TypeId StructType(StructId id) {
    return Intern({.kind = TypeKind::kStruct, .element = id.value});
  }
  StructId Add(Struct row);

  // What has no type, a function for example, has that of what failed.
  const Type& operator[](TypeId id) const {
    static constexpr Type kNone;
    return id.valid() ? rows_[id.value] : kNone;
  }
  const Struct& operator[](StructId id) const { return structs_[id.value]; }
  Struct& operator[](StructId id) { return structs_[id.value]; }
  const Struct& StructOf(TypeId id) const { return structs_[rows_[id.value].element]; }
  uint32_t struct_count() const { return static_cast<uint32_t>(structs_.size()); }

  // "vec3<f32>"
  std::string Text(TypeId id) const;

  // The item of a vector, column of a matrix, item of an array; else kFailed.
  TypeId ElementOf(TypeId id);
  // How many of them; 0 where only a variant or memory knows.
  uint32_t CountOf(TypeId id) const;

  // --- what a type may be used for
  bool IsNumeric(TypeId id) const;  // scalar, vector, matrix of anything but flags
  bool IsAbstract(TypeId id) const;
  bool IsConstructible(TypeId id) const { return Has(id, kConstructible); }
  bool IsHostShareable(TypeId id) const { return Has(id, kHostShareable); }
  bool IsPlain(TypeId id) const { return Has(id, kPlain); }  // may be in memory
  // Its size is known when the variant is.
  bool IsFixed(TypeId id) const { return Has(id, kFixed); }
  // Its size is known only then.
  bool HoldsOverride(TypeId id) const { return Has(id, kHoldsOverride); }
  bool HoldsAtomic(TypeId id) const { return Has(id, kHoldsAtomic); }
  // Scalars of a value, or of one item of an array without a known count; saturates at 2^32 - 1.
  uint64_t LeavesOf(TypeId id) const { return facts_[id.value].leaves; }
  // Levels of types in each other.
  uint32_t DepthOf(TypeId id) const { return facts_[id.value].depth; }

  // The abstract parts made concrete: i32 and f32.
  TypeId Concrete(TypeId id);
  // The shape with another scalar.
  TypeId WithScalar(TypeId id, ScalarKind kind);

 private:
  // Of a type with all that is in it. Made once, from those of its parts: types in each other may
  // be many more than their rows.
  static constexpr uint8_t kConstructible = 1, kHostShareable = 2, kPlain = 4, kFixed = 8,
                           kHoldsOverride = 16, kHoldsAtomic = 32;
  struct Facts {
    uint32_t depth = 1;
    uint32_t leaves = 1;
    uint8_t bits = 0;
  };
  bool Has(TypeId id, uint8_t bit) const { return (facts_[id.value].bits & bit) != 0; }
  Facts FactsFor(const Type& type) const;
  void AddPart(Facts& facts, TypeId part) const;

  std::vector<Type> rows_;
  std::vector<Facts> facts_;
  std::vector<Struct> structs_;
  InternIndex index_;
};

}  // namespace kiln::wgsl::front
