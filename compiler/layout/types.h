// SPDX-License-Identifier: MIT
// The types of parameters as the layout engine sees them, whatever language they come from: one
// flat table that a front end fills bottom up, so that a type can never contain itself.
// See spec/layout 2, 4, 5.
//   Types types;
//   const TypeId light = types.Struct("Light", {{.name = "pos", .type = types.Vector(kF32, 3)},
//                                               {.name = "map", .type = types.Resource(…)}});
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/arena.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/id.h"

namespace kiln::layout {

struct TypeLayoutTag;
using TypeId = Id<TypeLayoutTag>;

enum class ScalarKind : uint8_t {
  kF32,
  kI32,
  kU32,
  kBool,
  kF16,
  kI16,
  kU16,
  kF64,
  kI64,
  kU64,
  kI8,
  kU8,
  kAddress,  // of a buffer
};

enum class TypeKind : uint8_t {
  kVector,  // a scalar is a vector of one component
  kMatrix,
  kArray,
  kRuntimeArray,
  kStruct,
  kResource,
  kConstantBuffer,
  kParameterBlock,
  kGeneric,  // not yet specialised: its counts are unknown
  kEndless,  // what contains itself, or is nested too deep to be looked at: out of range
};

// What a resource uses (spec/layout 5.1).
enum class ResourceClass : uint8_t {
  kRead,           // sampled texture, read-only buffer, acceleration structure
  kTextureBuffer,  // as kRead; its element is a block under the rules of a `tbuffer`
  kWrite,          // writable texture or buffer
  kCounted,        // append or consume buffer
  kSampler,
  kCombined,  // texture with its sampler
  kSubpass,
};

enum class MatrixOrder : uint8_t { kDefault, kColumn, kRow };

inline constexpr uint64_t kAutomatic = ~uint64_t{0};

struct Member {
  std::string_view name;
  TypeId type{};
  MatrixOrder order = MatrixOrder::kDefault;
  uint64_t offset = kAutomatic;  // written by the author
  uint64_t size = 0;             // raised to this, `@size`
  uint32_t alignment = 0;        // raised to this, `@align`
};

struct Type {
  TypeKind kind = TypeKind::kVector;
  ScalarKind scalar = ScalarKind::kF32;
  uint8_t rows = 1;
  uint8_t columns = 1;
  ResourceClass resource = ResourceClass::kRead;
  // Item of an array, content of a block, element of a structured buffer.
  TypeId element{};
  uint64_t extent = 0;    // arrays; resources: 1 if the element is all of the buffer
  uint32_t stride = 0;    // arrays, matrices: written by the author; 0 is automatic
  std::string_view name;  // structs, resources, blocks
  uint32_t first_member = 0;
  uint32_t member_count = 0;

  // Of everything in it; filled in by Types.
  uint32_t depth = 0;       // a scalar has 1
  uint32_t path_count = 1;  // paths that a listing of it has; saturates
  bool has_bytes = true;    // outside blocks
  bool has_resources = false;
};

// How types are spelled in messages and dumps.
enum class Spelling : uint8_t {
  kNeutral,  // "vec3<f32>", "mat_r4c4<f32>", "T[2]", "T[]"
  kRpl,      // "f3", "f4x4", "T[2]", "T..."
};

// Deeper nesting makes a type endless. A policy may allow less.
inline constexpr uint32_t kMaxDepth = 256;
// More paths than this in one type are a count out of range.
inline constexpr uint32_t kMaxPaths = 1u << 20;

class Types {
 public:
  explicit Types(Spelling spelling = Spelling::kNeutral) : spelling_(spelling) {}

  // Equal arguments give equal ids, except that every struct and block is a type of its own. Texts
  // are kept by the caller (Keep) as long as the object.
  TypeId Vector(ScalarKind scalar, uint32_t components);
  TypeId Matrix(ScalarKind scalar, uint32_t rows, uint32_t columns, uint32_t stride = 0);
  TypeId Array(TypeId element, uint64_t extent, uint32_t stride = 0);
  TypeId RuntimeArray(TypeId element, uint32_t stride = 0);
  TypeId Struct(std::string_view name, std::span<const Member> members);
  TypeId Resource(ResourceClass resource, std::string_view name, TypeId element = {});
  // A buffer of one block, which may end in a run-time array.
  TypeId StorageBuffer(ResourceClass resource, std::string_view name, TypeId content);
  TypeId ConstantBuffer(std::string_view name, TypeId content);
  TypeId ParameterBlock(std::string_view name, TypeId content);
  TypeId Generic(std::string_view name);
  TypeId Endless(std::string_view name);

  const Type& operator[](TypeId id) const { return rows_[id.value]; }
  std::span<const Member> Members(TypeId id) const {
    const Type& type = rows_[id.value];
    return std::span(members_).subspan(type.first_member, type.member_count);
  }
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  Spelling spelling() const { return spelling_; }
  // A copy of the text that lives as long as the object.
  std::string_view Keep(std::string_view text) { return texts_.Copy(text); }

 private:
  TypeId Add(Type row);
  TypeId Intern(const Type& row);
  void Summarise(Type& row) const;

  Spelling spelling_;
  std::vector<Type> rows_;
  std::vector<Member> members_;
  InternIndex index_;
  Arena texts_;
};

uint32_t ScalarSize(ScalarKind scalar);          // bytes in a buffer
std::string_view ScalarText(ScalarKind scalar);  // "f32"
bool IsArray(const Type& type);                  // sized or run-time
TypeId ItemOf(const Types& types, TypeId type);  // without all its arrays
std::string TypeText(const Types& types, TypeId id);

}  // namespace kiln::layout
