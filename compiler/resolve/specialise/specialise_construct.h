// SPDX-License-Identifier: MIT
// Constructors: the first rule of spec/rpl 4.2 that fits, in terms of specialised instructions.
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

Operand SpecialiseConstruct(RegionBuilder& region, uint32_t id);

}  // namespace kiln::resolve
