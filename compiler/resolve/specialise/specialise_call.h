// SPDX-License-Identifier: MIT
// Calls of user functions: arguments from left to right, copies in and out (spec/rpl 8.7).
#pragma once

#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

Operand SpecialiseCall(RegionBuilder& region, uint32_t id);
// An argument of another type than its parameter, by the first dimension that differs.
void ReportArgumentType(RegionBuilder& region, const Role& role, ir::TypeId found_type,
                        ir::TypeId expected_type, uint32_t argument);

}  // namespace kiln::resolve
