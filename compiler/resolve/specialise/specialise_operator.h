// SPDX-License-Identifier: MIT
// Operators: operand types are checked against ir/typing, and what specialised IR does not have is
// written out in terms of what it has (spec/rpl 5.2, 5.3, 14.3).
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

Operand SpecialiseUnary(RegionBuilder& region, uint32_t id);
Operand SpecialiseBinary(RegionBuilder& region, uint32_t id);
// Of operands that are read already.
Operand CombineBinary(RegionBuilder& region, ir::BinaryOp op, ir::InstId left, ir::InstId right,
                      uint32_t id);
// A constructor would make one of the other: said with the message before.
void NoteConversion(RegionBuilder& region, ir::TypeId from, ir::TypeId to);
Operand SpecialiseLogical(RegionBuilder& region, uint32_t id);
Operand SpecialiseSelect(RegionBuilder& region, uint32_t id);

}  // namespace kiln::resolve
