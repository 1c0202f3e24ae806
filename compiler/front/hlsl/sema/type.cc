// SPDX-License-Identifier: MIT
// Rows are interned by their bytes. Counts of leaves and depths of structs are computed once, when
// a struct is complete, and saturate: ten arrays of structs in each other have more leaves than any
// number, and a limit is checked against the saturated count.
#include "compiler/front/hlsl/sema/type.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/digest.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

// As many as 32 bits hold, which is more than every limit.
uint64_t Saturated(uint64_t a, uint64_t b) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  return a == 0 || b == 0 ? 0 : (a > kMost / b ? kMost : a * b);
}

}  // namespace

Types::Types() {
  Intern({.kind = TypeKind::kFailed});
  Intern({.kind = TypeKind::kVoid});
}

// All numbers are rows of one form: a scalar has one row and one column.
Type Types::Numeric(Item item, Form form, uint32_t rows, uint32_t columns) {
  return {.kind = TypeKind::kNumeric,
          .item = item,
          .form = form,
          .rows = static_cast<uint8_t>(rows),
          .columns = static_cast<uint8_t>(columns)};
}

// A row has no padding, so its bytes are its identity.
TypeId Types::Intern(const Type& type) {
  return TypeId{index_.FindOrAdd(
      Hash64(std::as_bytes(std::span(&type, 1))), [&](uint32_t i) { return types_[i] == type; },
      [&] {
        types_.push_back(type);
        return static_cast<uint32_t>(types_.size() - 1);
      })};
}

// `float1` is written as a vector and has the value of a scalar (spec/hlsl 6.2); here the plain
// one is made.
TypeId Types::Vector(Item item, uint32_t count) {
  KILN_CHECK(count >= 1 && count <= 4, "vector of {}", count);
  return count == 1 ? Scalar(item) : Intern(Numeric(item, Form::kVector, 1, count));
}

// A matrix of one row is still a matrix: it is indexed by rows.
TypeId Types::Matrix(Item item, uint32_t rows, uint32_t columns) {
  KILN_CHECK(rows >= 1 && rows <= 4 && columns >= 1 && columns <= 4, "{}x{}", rows, columns);
  return Intern(Numeric(item, Form::kMatrix, rows, columns));
}

TypeId Types::Array(TypeId element, uint32_t extent) {
  return Intern({.kind = TypeKind::kArray, .element = element.value, .extent = extent});
}

// The number is an expression over options; two arrays are one type if one expression says it.
TypeId Types::OpenArray(TypeId element, ExprId extent) {
  return Intern({.kind = TypeKind::kArray, .element = element.value, .open = extent.value});
}

// The content is void for objects without one.
TypeId Types::Object(ObjectKind object, TypeId content, uint32_t extent) {
  return Intern(
      {.kind = TypeKind::kObject, .object = object, .element = content.value, .extent = extent});
}

// Another item in the same shape.
TypeId Types::WithItem(TypeId type, Item item) {
  Type row = types_[type.value];
  KILN_CHECK(row.kind == TypeKind::kNumeric);
  row.item = item;
  return Intern(row);
}

// A struct is there before its members are, so that its name can be mentioned.
StructId Types::AddStruct(std::string_view name, uint32_t token) {
  structs_.push_back({.name = name, .token = token});
  return StructId{static_cast<uint32_t>(structs_.size() - 1)};
}

// Called once, when all members are known. A struct is never part of itself, as it is not
// complete while its members are read.
void Types::Complete(StructId id, const std::vector<Member>& members) {
  Struct& row = structs_[id.value];
  row.first = static_cast<uint32_t>(members_.size());
  row.count = static_cast<uint32_t>(members.size());
  for (const Member& member : members) {
    row.leaves = std::min<uint64_t>(row.leaves + LeavesOf(member.type),
                                    std::numeric_limits<uint32_t>::max());
    row.depth = std::max(row.depth, DepthOf(member.type) + 1);
    row.open = row.open || member.condition != Id<void>::kNone || IsOpen(member.type);
    row.objects = row.objects || HoldsObject(member.type);
    members_.push_back(member);
  }
  row.complete = true;
}

// Enumerators of one enum are neighbours.
EnumId Types::AddEnum(const Enum& row, const std::vector<Enumerator>& enumerators) {
  enums_.push_back(row);
  enums_.back().first = static_cast<uint32_t>(enumerators_.size());
  enums_.back().count = static_cast<uint32_t>(enumerators.size());
  enumerators_.insert(enumerators_.end(), enumerators.begin(), enumerators.end());
  return EnumId{static_cast<uint32_t>(enums_.size() - 1)};
}

// Each enum is a type of its own; its item is what its values are stored as.
TypeId Types::Of(EnumId id) {
  return Intern({.kind = TypeKind::kEnum, .item = enums_[id.value].item, .element = id.value});
}

// Also arrays of objects.
bool Types::IsObject(TypeId id) const {
  while (types_[id.value].kind == TypeKind::kArray) {
    id = ElementOf(id);
  }
  return types_[id.value].kind == TypeKind::kObject;
}

// Structs know whether they do (Complete).
bool Types::HoldsObject(TypeId id) const {
  while (types_[id.value].kind == TypeKind::kArray) {
    id = ElementOf(id);
  }
  const Type& type = types_[id.value];
  return type.kind == TypeKind::kObject ||
         (type.kind == TypeKind::kStruct && structs_[type.element].objects);
}

// Known to a variant only: an array with an open extent, or a struct with members under
// conditions.
bool Types::IsOpen(TypeId id) const {
  for (; types_[id.value].kind == TypeKind::kArray; id = ElementOf(id)) {
    if (types_[id.value].open != Id<void>::kNone) {
      return true;
    }
  }
  const Type& type = types_[id.value];
  return type.kind == TypeKind::kStruct && structs_[type.element].open;
}

// How many scalars a value has, which lists and casts count by. Walks down arrays, and structs
// know theirs.
uint64_t Types::LeavesOf(TypeId id) const {
  uint64_t factor = 1;
  for (; types_[id.value].kind == TypeKind::kArray; id = ElementOf(id)) {
    factor = Saturated(factor, types_[id.value].extent);
  }
  const Type& type = types_[id.value];
  switch (type.kind) {
    case TypeKind::kNumeric:
      return Saturated(factor, CountOf(type));
    case TypeKind::kStruct:
      return Saturated(factor, structs_[type.element].leaves);
    case TypeKind::kEnum:
    case TypeKind::kObject:
      return factor;
    case TypeKind::kFailed:
    case TypeKind::kVoid:
    case TypeKind::kString:
    case TypeKind::kArray:
      return 0;
  }
  KILN_UNREACHABLE();
}

// Levels of arrays and structs in each other, which the IR and SPIR-V limit.
uint32_t Types::DepthOf(TypeId id) const {
  uint32_t depth = 0;
  for (; types_[id.value].kind == TypeKind::kArray; id = ElementOf(id)) {
    ++depth;
  }
  const Type& type = types_[id.value];
  return depth + (type.kind == TypeKind::kStruct ? structs_[type.element].depth : 0);
}

// As a source writes it, with the extents of arrays from the outside in.
std::string Types::Text(TypeId id) const {
  std::string extents;
  for (; types_[id.value].kind == TypeKind::kArray; id = ElementOf(id)) {
    const Type& array = types_[id.value];
    extents += array.open != Id<void>::kNone ? "[...]"
               : array.extent == 0           ? "[]"
                                             : fmt::format("[{}]", array.extent);
  }
  const Type& type = types_[id.value];
  switch (type.kind) {
    case TypeKind::kFailed:
      return "?" + extents;
    case TypeKind::kVoid:
      return "void" + extents;
    case TypeKind::kString:
      return "string" + extents;
    case TypeKind::kEnum:
      return std::string(enums_[type.element].name) + extents;
    case TypeKind::kStruct: {
      const std::string_view name = structs_[type.element].name;
      return (name.empty() ? "struct" : std::string(name)) + extents;
    }
    case TypeKind::kObject: {
      const std::string name(FactsOf(type.object).name);
      const TypeId content{type.element};
      const bool plain = content == Void();
      return (plain ? name : fmt::format("{}<{}>", name, Text(content))) + extents;
    }
    case TypeKind::kNumeric: {
      const std::string_view item = FactsOf(type.item).name;
      if (type.form == Form::kMatrix) {
        return fmt::format("{}{}x{}{}", item, type.rows, type.columns, extents);
      }
      return type.form == Form::kVector ? fmt::format("{}{}{}", item, type.columns, extents)
                                        : std::string(item) + extents;
    }
    case TypeKind::kArray:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::hlsl
