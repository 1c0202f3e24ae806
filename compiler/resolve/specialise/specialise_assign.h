// SPDX-License-Identifier: MIT
// Assignment, plain and with an operator (spec/rpl 5.3, 5.5).
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

Operand SpecialiseAssign(RegionBuilder& region, uint32_t id);
Operand SpecialiseAssignOp(RegionBuilder& region, uint32_t id);

}  // namespace kiln::resolve
