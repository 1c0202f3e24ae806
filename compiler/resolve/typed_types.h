// SPDX-License-Identifier: MIT
// Types and constants of a typed module as those of the pool: extents are evaluated, structs asked
// for. See docs/IR.md, "Typed modules".
#pragma once

#include <optional>

#include "compiler/base/flat_map.h"
#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

class TypedTypes {
 public:
  explicit TypedTypes(RegionBuilder& region) : region_(region) {}

  // Invalid: it failed, which was said.
  ir::TypeId Type(ir::TypeId open);
  ir::ConstId Constant(ir::ConstId open);
  // The value of a compile-time expression as a constant of that type.
  ir::ConstId Value(ir::CexprId cexpr, ir::TypeId type);

  // The declaration that a generic type is, without arrays; invalid if it is none.
  ir::DeclId StructOf(ir::TypeId open) const;  // of the module
  // Where a member of a struct of the module stands among those that are live; nothing if it is
  // not.
  std::optional<uint32_t> LivePosition(ir::DeclId owner, uint32_t member);
  // The type of the part of a generic type, of a member by its position in the declaration.
  ir::TypeId PartOf(ir::TypeId open, uint32_t member) const;

 private:
  ir::TypeId Make(const ir::Type& type);
  void Fail(std::string text);

  RegionBuilder& region_;
  FlatMap<uint32_t, ir::TypeId> types_;
  FlatMap<uint32_t, ir::ConstId> constants_;
};

// What is wrong with a typed module is nothing that its author wrote: its front end would have said
// so.
void ReportIllTyped(RegionBuilder& region, std::string text);

}  // namespace kiln::resolve
