// SPDX-License-Identifier: MIT
// Instructions that RPL has no use for, and those that typed modules write otherwise. Private to
// this folder. See spec/wgsl 3.16.
#pragma once

#include <string>

#include "compiler/emit/wgsl/lower/region_lowering.h"

namespace kiln::wgsl {

// The value of an input.
Expr InputText(RegionLowering& region, uint32_t row);
// Whether a store only says that a variable begins as zero, which it does.
bool IsFirstZero(const RegionLowering& region, const ir::StoreInst& inst);
// What a body ends with, and the variables in front of it.
void FinishTyped(RegionLowering& region);

void LowerTypedLoop(RegionLowering& region, const ir::LoopInst& inst);
void LowerTypedReturn(RegionLowering& region);
void LowerSwitch(RegionLowering& region, const ir::SwitchInst& inst);
void LowerBreak(RegionLowering& region, ir::InstId id, const ir::BreakInst& inst);
// A return where control never comes, which validators ask for.
void LowerUnreachable(RegionLowering& region);

void LowerBitcast(RegionLowering& region, ir::InstId id, const ir::BitcastInst& inst);
void LowerInsert(RegionLowering& region, ir::InstId id, const ir::InsertInst& inst);
// ".fract" of what a function of WGSL gives.
std::string InbuiltMember(const RegionLowering& region, const ir::ExtractInst& inst);
// The first argument of a call of a builtin.
ir::InstId FirstArgument(const RegionLowering& region, uint32_t call);

// Whether the weak exchange that gave `old` has happened.
Expr ExchangedText(RegionLowering& region, ir::InstId old);
void LowerAtomicOf(RegionLowering& region, ir::InstId id, const ir::AtomicInst& inst);
void LowerBarrierOf(RegionLowering& region, const ir::BarrierInst& inst);

}  // namespace kiln::wgsl
