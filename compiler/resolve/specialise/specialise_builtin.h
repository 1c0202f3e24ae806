// SPDX-License-Identifier: MIT
// Builtins: families of ir/builtins.def, stage functions and functions of memory. Those of images
// are in specialise_image. See spec/rpl 6, 14.1, 14.6, 14.7
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

Operand SpecialiseBuiltin(RegionBuilder& region, uint32_t id);

}  // namespace kiln::resolve
