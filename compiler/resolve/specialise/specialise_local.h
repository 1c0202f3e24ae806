// SPDX-License-Identifier: MIT
// Locals: declarations of variables and aliases, their names, and what their mentions denote
// (spec/rpl 5.4, 8.5).
#pragma once

#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

void SpecialiseVariable(RegionBuilder& region, uint32_t id);
void SpecialiseAlias(RegionBuilder& region, uint32_t id);
// What a new local must not be called (RPL6040).
void CheckNewName(RegionBuilder& region, ir::LocalId id);
Operand SpecialiseLocalMention(RegionBuilder& region, ir::LocalId id, uint32_t);

}  // namespace kiln::resolve
