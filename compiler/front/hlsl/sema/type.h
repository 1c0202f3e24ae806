// SPDX-License-Identifier: MIT
// HLSL types as rows: equal types are equal ids, so `typedef` and `using` make no type. A row keeps
// the form that was written, because overloads, swizzles and indices see it: `float1x4` is a matrix
// there and the vector `float4` as a value (ValueForm). See spec/hlsl 6
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/id.h"
#include "compiler/front/hlsl/sema/item.h"

namespace kiln::hlsl {

using TypeId = Id<struct HlslTypeTag>;
using StructId = Id<struct HlslStructTag>;
using EnumId = Id<struct HlslEnumTag>;
using ExprId = Id<struct HlslExprTag>;  // tree.h

enum class TypeKind : uint8_t {
  kFailed,  // an error was said: fits everything, and nothing more is said of it
  kVoid,
  kNumeric,  // scalar, vector, matrix
  kEnum,
  kStruct,
  kArray,
  kString,
  kObject,  // a resource or sampler
};
enum class Form : uint8_t { kScalar, kVector, kMatrix };

// Objects that a declaration may name; objects.def says what they are.
enum class ObjectKind : uint8_t {
#define KILN_OBJECT(object, name, tier, shape, dim, flags) k##object,
#include "compiler/front/hlsl/sema/objects.def"
};

struct Type {
  TypeKind kind = TypeKind::kFailed;
  Item item = Item::kFloat;   // numeric; of an enum the underlying one
  Form form = Form::kScalar;  // numeric, as written
  uint8_t rows = 1;           // numeric; 1 for scalars and vectors
  uint8_t columns = 1;
  ObjectKind object = ObjectKind{};
  uint16_t zero = 0;
  uint32_t element = 0;  // struct: StructId; enum: EnumId; array, object: TypeId of what it holds
  uint32_t extent = 0;   // array: number of items, 0 if options decide or it has none
  uint32_t open = Id<void>::kNone;  // array: ExprId of an extent that options decide
  friend bool operator==(const Type&, const Type&) = default;
};
static_assert(sizeof(Type) == 20 && std::is_trivially_copyable_v<Type>);

constexpr uint32_t CountOf(const Type& type) { return uint32_t{type.rows} * type.columns; }
// The form of its values: 1xN and Nx1 are vectors, 1x1 is a scalar.
constexpr Form ValueForm(const Type& type) {
  return type.rows > 1 && type.columns > 1 ? Form::kMatrix
         : CountOf(type) > 1               ? Form::kVector
                                           : Form::kScalar;
}

// What stands at one member of a struct besides its type: given to interfaces and layouts.
struct Member {
  std::string_view name;  // of the source
  TypeId type;
  uint32_t token = Id<void>::kNone;       // of the name
  uint32_t condition = Id<void>::kNone;   // ExprId of `kiln::conditional`
  uint32_t attributes = Id<void>::kNone;  // row of the tables of declarations (tree.h)
};
struct Struct {
  std::string_view name;  // empty if it has none
  uint32_t token = Id<void>::kNone;
  uint32_t first = 0;  // of the members
  uint32_t count = 0;
  uint64_t leaves = 0;  // scalars, vectors, matrices; saturates
  uint32_t depth = 0;   // structs and arrays in each other
  bool complete = false;
  bool open = false;     // options decide about a member or an extent
  bool objects = false;  // holds a resource
};
struct Enumerator {
  std::string_view name;
  uint32_t value = 0;
};
struct Enum {
  std::string_view name;
  Item item = Item::kInt;
  bool scoped = false;
  uint32_t first = 0;
  uint32_t count = 0;
};

// Append-only; ids stay valid. Texts are those of the source, which outlives it.
class Types {
 public:
  Types();
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  Types(Types&&) = default;
  Types& operator=(Types&&) = default;

  TypeId Failed() const { return TypeId{0}; }
  TypeId Void() const { return TypeId{1}; }
  TypeId Scalar(Item item) { return Intern(Numeric(item, Form::kScalar, 1, 1)); }
  // `count` 1 is the scalar as a value.
  TypeId Vector(Item item, uint32_t count);
  // `float1`: a scalar as a value, a vector in its name.
  TypeId VectorOfOne(Item item) { return Intern(Numeric(item, Form::kVector, 1, 1)); }
  TypeId Matrix(Item item, uint32_t rows, uint32_t columns);
  TypeId Array(TypeId element, uint32_t extent);
  TypeId OpenArray(TypeId element, ExprId extent);
  TypeId Object(ObjectKind object, TypeId content, uint32_t extent = 0);
  TypeId String() { return Intern({.kind = TypeKind::kString}); }
  // The same form with another item.
  TypeId WithItem(TypeId type, Item item);

  StructId AddStruct(std::string_view name, uint32_t token);
  // Members come when the struct is complete.
  void Complete(StructId id, const std::vector<Member>& members);
  TypeId Of(StructId id) { return Intern({.kind = TypeKind::kStruct, .element = id.value}); }
  EnumId AddEnum(const Enum& row, const std::vector<Enumerator>& enumerators);
  TypeId Of(EnumId id);

  const Type& operator[](TypeId id) const { return types_[id.value]; }
  const Struct& operator[](StructId id) const { return structs_[id.value]; }
  const Enum& operator[](EnumId id) const { return enums_[id.value]; }
  const Struct& StructOf(TypeId id) const { return structs_[types_[id.value].element]; }
  const Member& MemberOf(TypeId id, uint32_t member) const {
    return members_[StructOf(id).first + member];
  }
  const Member& MemberOf(StructId id, uint32_t member) const {
    return members_[structs_[id.value].first + member];
  }
  const Enumerator& EnumeratorOf(EnumId id, uint32_t i) const {
    return enumerators_[enums_[id.value].first + i];
  }
  TypeId ElementOf(TypeId id) const { return TypeId{types_[id.value].element}; }
  uint32_t struct_count() const { return static_cast<uint32_t>(structs_.size()); }

  bool IsNumeric(TypeId id) const { return types_[id.value].kind == TypeKind::kNumeric; }
  bool IsScalar(TypeId id) const {
    return IsNumeric(id) && ValueForm(types_[id.value]) == Form::kScalar;
  }
  bool IsFailed(TypeId id) const { return types_[id.value].kind == TypeKind::kFailed; }
  bool IsObject(TypeId id) const;  // or an array of them
  bool HoldsObject(TypeId id) const;
  bool IsOpen(TypeId id) const;        // options decide about its shape
  uint64_t LeavesOf(TypeId id) const;  // scalars in it; saturates
  uint32_t DepthOf(TypeId id) const;

  // "float3x3", "Surface", "int[4]": the spelling of messages.
  std::string Text(TypeId id) const;

 private:
  static Type Numeric(Item item, Form form, uint32_t rows, uint32_t columns);
  TypeId Intern(const Type& type);

  std::vector<Type> types_;
  std::vector<Struct> structs_;
  std::vector<Member> members_;
  std::vector<Enum> enums_;
  std::vector<Enumerator> enumerators_;
  InternIndex index_;
};

}  // namespace kiln::hlsl
