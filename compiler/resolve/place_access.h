// SPDX-License-Identifier: MIT
// Places: storage that code reads or writes. A place is a root and steps to a part of it; it
// becomes an instruction when it is read or written, and not before, because most are stepped into
// (spec/rpl 5.1, 8.6, 8.9, 11.4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

// What an operand is for, spelled only when a message needs it.
struct Role {
  enum class Form : uint8_t {
    kLeft,
    kRight,
    kOperand,
    kArgument,
    kConstructor,
    kCondition,
    kPlain
  };
  Form form = Form::kPlain;
  std::string_view text;  // operator, function, type, keyword or the whole role
  uint32_t index = 0;     // from 1
};
std::string RoleText(const Role& role);

enum class Arrays : uint8_t { kRefused, kAllowed };

constexpr bool IsArray(const ir::Type& type) {
  return type.kind == ir::TypeKind::kArray || type.kind == ir::TypeKind::kRuntimeArray;
}

// The part of a value or place at a position: a member, a component, a column, an item.
Operand Part(RegionBuilder& region, const Operand& source, uint32_t position, ir::TypeId type);
// The place behind one step.
Operand Step(RegionBuilder& region, const Operand& place, ir::InstId step, ir::TypeId type);
// A value that is indexed by a variable needs storage (spec/rpl 11.4).
Operand Spill(RegionBuilder& region, const Operand& value);
// The place of a constant that is indexed by a variable.
Operand ConstantPlace(RegionBuilder& region, const Operand& constant);
// The instruction that denotes the place.
ir::InstId PlaceInst(RegionBuilder& region, const Operand& place);
ir::InstId LoadFrom(RegionBuilder& region, const Operand& place);
void StoreTo(RegionBuilder& region, const Operand& place, ir::InstId value);
// Why the last message says that a place cannot be read, or written (spec/rpl 5.1, 8.9).
void NoteAccess(RegionBuilder& region, const Operand& place);
// The value of an operand; invalid after saying why it has none.
ir::InstId Read(RegionBuilder& region, uint32_t operand_inst, const Role& role,
                Arrays arrays = Arrays::kRefused);
// The same for an operand that is not in the table.
ir::InstId ReadOperand(RegionBuilder& region, Operand& operand, uint32_t inst, const Role& role,
                       Arrays arrays);

}  // namespace kiln::resolve
