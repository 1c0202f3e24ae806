// SPDX-License-Identifier: MIT
// Nesting of generic types and constants is bounded (ids.h), so both are made by recursion; each
// row is made once per region.
#include "compiler/resolve/typed_types.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/typing/typing.h"

namespace kiln::resolve {
namespace {

// None for kinds that have no type in a shader.
ir::Scalar ScalarOf(ir::ValueKind kind) {
  switch (kind) {
    case ir::ValueKind::kFlag:
      return ir::Scalar::kBool;
    case ir::ValueKind::kUint:
      return ir::Scalar::kU32;
    case ir::ValueKind::kSint:
      return ir::Scalar::kS32;
    case ir::ValueKind::kFloat:
      return ir::Scalar::kF32;
    case ir::ValueKind::kString:
    case ir::ValueKind::kFailed:
      break;
  }
  return ir::Scalar::kNone;
}

}  // namespace

// A fault of whoever made the module and not of a programmer, though it must not bring the process
// down: modules come from caches and from other processes.
void ReportIllTyped(RegionBuilder& region, std::string text) {
  region.FailIf(true);
  region.Report(Make(Code::kRpl9001, region.MainOf(region.current()))
                    .With("text", "a typed module that breaks a rule of the IR: " + text));
}

void TypedTypes::Fail(std::string text) { ReportIllTyped(region_, std::move(text)); }

ir::TypeId TypedTypes::Type(ir::TypeId open) {
  // By the number in the module: a region uses few types, each many times.
  if (const ir::TypeId* known = types_.Find(open.value)) {
    return *known;
  }
  // A type that failed is kept as well, so that its message comes once.
  const ir::TypeId made = Make(region_.module().types[open.value]);
  types_.Insert(open.value, made);
  return made;
}

// A type of the module as one of the pool; invalid after a fault.
ir::TypeId TypedTypes::Make(const ir::Type& type) {
  ir::Pool& pool = region_.pool();
  switch (type.kind) {
    case ir::TypeKind::kArray: {
      const ir::TypeId item = Type(ir::TypeId{type.element});
      const resolve::Value extent =
          // The extent may rest on options, so it is evaluated for this variant, and its own
          // message is reported if it fails.
          region_.answers().Check(region_.Global(ir::CexprId{type.extent}),
                                  region_.MainOf(region_.current()), {}, region_.diagnostics());
      const bool good = extent.kind == ir::ValueKind::kUint ||
                        (extent.kind == ir::ValueKind::kSint && extent.bits <= INT32_MAX);
      if (!item.valid() || extent.failed()) {
        region_.FailIf(true);
        return {};
      }
      if (!good || extent.bits == 0) {
        Fail("an extent that is no number above zero");
        return {};
      }
      return pool.Intern(ir::ArrayType(item, extent.bits));
    }
    case ir::TypeKind::kRuntimeArray: {
      const ir::TypeId item = Type(ir::TypeId{type.element});
      return item.valid() ? pool.Intern({.kind = type.kind, .element = item.value}) : item;
    }
    case ir::TypeKind::kDeclared: {
      const ir::SpecialisedDecl* decl =
          region_.answers().Decl(ir::DeclId{region_.bases().decl + type.element});
      region_.FailIf(decl == nullptr);
      return decl != nullptr ? decl->type : ir::TypeId{};
    }
    case ir::TypeKind::kStruct:
    case ir::TypeKind::kNamed:
    case ir::TypeKind::kDeferred:
      Fail("a type of untyped modules");
      return {};
    default:
      return pool.Intern(type);
  }
}

// Parts are made before the whole; a constant that failed is invalid.
ir::ConstId TypedTypes::Constant(ir::ConstId open) {
  if (const ir::ConstId* known = constants_.Find(open.value)) {
    return *known;
  }
  const ir::Const& row = region_.module().consts[open.value];
  const ir::TypeId type = Type(row.type);
  ir::ConstId made;
  if (type.valid() && row.composite == 0) {
    made = region_.pool().InternWide(type, row.bits());
  } else if (type.valid()) {
    const std::span<const uint32_t> open_parts = region_.module().List(ir::ListId{row.a});
    std::vector<ir::ConstId> parts;
    for (uint32_t i = 0; i < open_parts.size(); ++i) {
      const ir::ConstId part = Constant(ir::ConstId{open_parts[i]});
      if (!part.valid()) {
        return {};
      }
      // The number is checked before the type is asked for, which exists only for parts that are
      // there.
      const bool fits = i < ir::PartCount(region_.pool(), type) &&
                        ir::PartType(region_.pool(), type, i) == region_.pool()[part].type;
      if (!fits) {
        Fail("a part of a constant that does not fit");
        return {};
      }
      parts.push_back(part);
    }
    if (parts.size() != ir::PartCount(region_.pool(), type)) {
      Fail("a constant with too few parts");
      return {};
    }
    made = region_.pool().InternComposite(type, parts);
  }
  constants_.Insert(open.value, made);
  return made;
}

// Requires: the type is the one that the instruction asks for.
ir::ConstId TypedTypes::Value(ir::CexprId cexpr, ir::TypeId type) {
  const resolve::Value value = region_.answers().Check(
      region_.Global(cexpr), region_.MainOf(region_.current()), {}, region_.diagnostics());
  if (value.failed() || !type.valid()) {
    region_.FailIf(true);
    return {};
  }
  const ir::Scalar scalar = ScalarOf(value.kind);
  // Strings have no type in a shader.
  if (scalar == ir::Scalar::kNone || type != region_.pool().Vector(scalar, 1)) {
    Fail("a compile-time expression of another type");
    return {};
  }
  return region_.pool().InternScalar(type, value.bits);
}

// By its number in the module, which is how steps name members.
ir::DeclId TypedTypes::StructOf(ir::TypeId open) const {
  const ir::Type& type = region_.module().types[open.value];
  return type.kind == ir::TypeKind::kDeclared ? ir::DeclId{type.element} : ir::DeclId{};
}

// Members whose condition is false are not there, so the position in a variant may be less than the
// number in the declaration.
std::optional<uint32_t> TypedTypes::LivePosition(ir::DeclId owner, uint32_t member) {
  const ir::SpecialisedDecl* decl =
      region_.answers().Decl(ir::DeclId{region_.bases().decl + owner.value});
  const ir::MemberId id{region_.bases().member + region_.module().decls[owner.value].first_member +
                        member};
  // A struct that failed has no members, and then no position.
  for (uint32_t i = 0; decl != nullptr && i < decl->members.size(); ++i) {
    if (decl->members[i].member == id) {
      return i;
    }
  }
  return std::nullopt;
}

// The type as it is written, before options decide about members. Invalid for types without
// parts.
ir::TypeId TypedTypes::PartOf(ir::TypeId open, uint32_t member) const {
  const ir::Type& type = region_.module().types[open.value];
  if (type.kind == ir::TypeKind::kArray || type.kind == ir::TypeKind::kRuntimeArray) {
    return ir::TypeId{type.element};
  }
  if (type.kind != ir::TypeKind::kDeclared) {
    return {};
  }
  const ir::Decl& decl = region_.module().decls[type.element];
  return member < decl.member_count ? region_.module().MembersOf(decl)[member].type : ir::TypeId{};
}

}  // namespace kiln::resolve
