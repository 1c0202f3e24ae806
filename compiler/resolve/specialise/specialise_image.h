// SPDX-License-Identifier: MIT
// Functions of samplers and images: which image a function takes, what it is given, and the form
// that the stage picks. See spec/rpl 6.4, 14.2, 14.7
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

Operand SpecialiseImageCall(RegionBuilder& region, uint32_t id);

}  // namespace kiln::resolve
