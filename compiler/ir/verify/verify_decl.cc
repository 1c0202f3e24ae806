// SPDX-License-Identifier: MIT
// Types are walked part by part; shapes are interned, so what was found good once is not looked at
// again, and a type that holds another twice costs no more than one that holds it once.
#include "compiler/ir/verify/verify_decl.h"

#include <optional>

#include <fmt/format.h>

#include "compiler/base/flat_map.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/interface/semantics.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::ir {
namespace {

// The same type may be good as a local and wrong in a buffer, because memory has a layout and some
// things have no form there.
enum class Memory : uint8_t { kFunction, kBuffer };

class TypeWalk {
 public:
  TypeWalk(const Pool& pool, Memory memory) : pool_(pool), memory_(memory) {}

  // The first thing that has no lowering, or nothing.
  // A type counts as good before its parts are looked at. That is right, because a fault ends the
  // walk with its text, and a type cannot hold itself.
  std::string_view Of(TypeId id) {
    if (!good_.Insert(id.value, true).second) {
      return {};
    }
    const Type& type = pool_[id];
    switch (type.kind) {
      case TypeKind::kAccel:
      case TypeKind::kRayQuery:
        return "acceleration structures and ray queries have no lowering";
      case TypeKind::kImage:
      case TypeKind::kSampledImage:
        return UnpackImage(type.extent).dim == ImageDim::kSubpass
                   ? "subpass inputs have no lowering"
                   : "";
      case TypeKind::kArray:
      case TypeKind::kRuntimeArray:
        return Of(TypeId{type.element});
      case TypeKind::kStruct:
        return OfStruct(id);
      // Types that stand for others must have been replaced when the program was specialised.
      case TypeKind::kNamed:
      case TypeKind::kDeferred:
      case TypeKind::kDeclared:
        return "a generic type";
      case TypeKind::kVoid:
      case TypeKind::kVector:
      case TypeKind::kMatrix:
      case TypeKind::kSampler:
        break;
    }
    return {};
  }

 private:
  std::string_view OfStruct(TypeId id) {
    for (const ShapeMember& member : pool_.Members(id)) {
      const std::string_view wrong = memory_ == Memory::kBuffer ? OfForm(member) : "";
      if (!wrong.empty()) {
        return wrong;
      }
      if (const std::string_view inside = Of(member.type); !inside.empty()) {
        return inside;
      }
    }
    return {};
  }

  // What is written about the form of a member in memory.
  std::string_view OfForm(const ShapeMember& member) const {
    if (member.stride != 0) {
      return "written strides have no lowering";
    }
    if (member.order == MatrixOrder::kColumn) {
      return {};
    }
    TypeId item = member.type;
    while (pool_[item].kind == TypeKind::kArray || pool_[item].kind == TypeKind::kRuntimeArray) {
      item = TypeId{pool_[item].element};
    }
    const Type& type = pool_[item];
    return type.kind != TypeKind::kMatrix || !IsFloatScalar(type.scalar)
               ? "row_major is of float matrices"
               : "";
  }

  const Pool& pool_;
  const Memory memory_;
  FlatMap<uint32_t, bool> good_;
};

Error Wrong(const Pool& pool, StringId name, std::string_view what) {
  return {.code = ErrorCode::kInternal,
          .context = fmt::format("specialised declaration '{}': {}",
                                 name.valid() ? pool.Text(name) : "_", what)};
}

bool IsResource(DeclKind kind) {
  return kind == DeclKind::kBuffer || kind == DeclKind::kPushConstant;
}

}  // namespace

std::string_view UnloweredType(const Pool& pool, TypeId type) {
  return TypeWalk(pool, Memory::kFunction).Of(type);
}

// Faults of this kind are errors of kiln or of a text, not of a programmer: front ends have refused
// what has no lowering.
Result<void> VerifyDecl(const SpecialisedDecl& decl, const Pool& pool) {
  const Memory memory = IsResource(decl.kind) ? Memory::kBuffer : Memory::kFunction;
  TypeWalk walk(pool, memory);
  // A container has no type of its own; its fields are in different parts of the interface.
  if (decl.kind != DeclKind::kContainer) {
    if (const std::string_view wrong = walk.Of(decl.type); !wrong.empty()) {
      return Wrong(pool, decl.name, wrong);
    }
  }
  // Members are looked at by the same walk, so a type that several members have is walked once.
  for (const SpecialisedMember& member : decl.members) {
    if (const std::string_view wrong = walk.Of(member.type); !wrong.empty()) {
      return Wrong(pool, member.name, wrong);
    }
  }
  if (decl.kind == DeclKind::kPrivate || decl.kind == DeclKind::kWorkgroup) {
    // Handles cannot be stored, so no variable holds them.
    if (!HasValues(pool, decl.type)) {
      return Wrong(pool, decl.name, "a variable holds values");
    }
    if (decl.initial.valid() &&
        (decl.kind != DeclKind::kPrivate || pool[decl.initial].type != decl.type)) {
      return Wrong(pool, decl.name, "type of the initial value");
    }
  }
  return {};
}

namespace {

// A vector or matrix, or an array of those; nothing for any other type.
const Type* ItemOfRow(const Pool& pool, TypeId type) {
  while (pool[type].kind == TypeKind::kArray) {
    type = TypeId{pool[type].element};
  }
  const Type& item = pool[type];
  return item.kind == TypeKind::kVector || item.kind == TypeKind::kMatrix ? &item : nullptr;
}

// The name has to exist, the stage must have it in this direction, and its type must be the one
// that SPIR-V prescribes, or signed where unsigned is prescribed.
std::string_view WrongBuiltin(const EntryRef& entry, const InterfaceRow& row, const Pool& pool,
                              std::string_view name) {
  const std::optional<BuiltinVariable> builtin = FindBuiltinVariable(name);
  if (!builtin.has_value()) {
    return "a built-in that has no lowering";
  }
  if (!ExistsIn(*builtin, entry.stage, row.direction)) {
    return "a built-in that the stage does not have";
  }
  const BuiltinVariableFacts& facts = FactsOf(*builtin);
  const Type& type = pool[row.type];
  const Type& item = *ItemOfRow(pool, row.type);
  const bool is_array = type.kind == TypeKind::kArray;
  const bool sized = !is_array || facts.items == kAnyItems || facts.items == type.extent;
  const bool signed_too = facts.scalar == Scalar::kU32 && item.scalar == Scalar::kS32;
  return is_array == (facts.items != 0) && sized && item.kind == TypeKind::kVector &&
                 item.rows == facts.rows && (item.scalar == facts.scalar || signed_too)
             ? ""
             : "type of a built-in";
}

// What is wrong with the attributes of a row, or nothing.
std::string_view WrongPlace(const EntryRef& entry, const InterfaceRow& row, const Pool& pool) {
  if (const Attribute* builtin = row.Find(AttributeKey::kBuiltin)) {
    return WrongBuiltin(entry, row, pool, pool.Text(StringId{builtin->a}));
  }
  if (row.Find(AttributeKey::kLocation) == nullptr) {
    return "a row of the interface has a location or is a built-in";
  }
  const Attribute* interpolation = row.Find(AttributeKey::kInterpolation);
  // Integers and doubles are not interpolated, and SPIR-V wants the decoration on them when a
  // fragment reads them.
  const bool flat =
      interpolation != nullptr && interpolation->a == static_cast<uint32_t>(Interpolation::kFlat);
  const Scalar scalar = ItemOfRow(pool, row.type)->scalar;
  if (scalar == Scalar::kBool || BitWidthOf(scalar) == 16) {
    return "booleans and scalars of 16 bits have no locations";
  }
  const bool varies = entry.stage == Stage::kFragment && row.direction == Direction::kIn;
  return varies && !flat && (IsIntegerScalar(scalar) || scalar == Scalar::kF64)
             ? "integers that a fragment reads are flat"
             : "";
}

}  // namespace

// ItemOfRow is asked first; whatever follows relies on a vector or a matrix.
Result<void> VerifyEntry(const EntryRef& entry, const Pool& pool) {
  for (const InterfaceRow& row : entry.io) {
    if (ItemOfRow(pool, row.type) == nullptr || row.direction == Direction::kNone) {
      return Wrong(pool, row.name, "a row of the interface is a vector or matrix, in or out");
    }
    if (const std::string_view wrong = WrongPlace(entry, row, pool); !wrong.empty()) {
      return Wrong(pool, row.name, wrong);
    }
  }
  return {};
}

}  // namespace kiln::ir
