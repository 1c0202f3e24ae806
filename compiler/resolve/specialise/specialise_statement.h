// SPDX-License-Identifier: MIT
// Statements: scopes, branches, loops, jumps. Generic statements -> specialised rows, and whether
// control can go on behind them (spec/rpl 8.7 "Termination", 8.8).
#pragma once

#include "compiler/resolve/specialise/region_builder.h"
#include "compiler/resolve/specialise/specialise_block.h"

namespace kiln::resolve {

Flow SpecialiseConditionalScope(RegionBuilder& region, uint32_t id);
Flow SpecialiseIf(RegionBuilder& region, uint32_t id);
Flow SpecialiseLoop(RegionBuilder& region, uint32_t id);
Flow SpecialiseJump(RegionBuilder& region, uint32_t id);
Flow SpecialiseReturn(RegionBuilder& region, uint32_t id);
Flow SpecialiseExpressionStatement(RegionBuilder& region, uint32_t id);
// Reports, and is true, if the expression is a container.
bool RefuseContainer(RegionBuilder& region, ir::InstId expression);

}  // namespace kiln::resolve
