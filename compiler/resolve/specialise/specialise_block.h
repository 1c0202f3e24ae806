// SPDX-License-Identifier: MIT
// Blocks of instructions: a block of generic IR is a flat list in evaluation order, operands before
// users, so it is specialised by one loop without recursion over expressions. Only nested blocks
// recurse, and VerifyIds bounds their depth.
#pragma once

#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/region_builder.h"

namespace kiln::resolve {

// Whether control can go on behind a block or a statement.
enum class Flow : uint8_t { kGoesOn, kEnds };

// As a block of its own.
ir::BlockId SpecialiseNested(RegionBuilder& region, ir::BlockId block, Flow* flow);
// Into the block that is open.
Flow SpecialiseInsts(RegionBuilder& region, std::span<const uint32_t> insts);
// Specialises a value block and yields its value inside it; invalid if the value failed.
ir::InstId SpecialiseYield(RegionBuilder& region, ir::BlockId block, const Role& role,
                           ir::BlockId* specialised);
// The value of a plain block, evaluated where we are.
ir::InstId SpecialiseInline(RegionBuilder& region, ir::BlockId block, const Role& role);

}  // namespace kiln::resolve
