// SPDX-License-Identifier: MIT
// Members and items: which part of a place or value they denote (spec/rpl 5.1, 5.4, 8.9).
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

Operand SpecialiseMemberOf(RegionBuilder& region, uint32_t id);
Operand SpecialiseIndex(RegionBuilder& region, uint32_t id);

}  // namespace kiln::resolve
