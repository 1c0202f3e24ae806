// SPDX-License-Identifier: MIT
// Names and literals: what a mention denotes (spec/rpl 5.1, 5.4, 8.5, 14.9).
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

Operand SpecialiseNameRef(RegionBuilder& region, uint32_t id);
// Requires: the option is one of a specialisation constant (spec/rpl 14.9).
Operand SpecialiseSpecialised(RegionBuilder& region, ir::OptionId id);

}  // namespace kiln::resolve
