// SPDX-License-Identifier: MIT
// Values: operators, constructors, conversions, builtins. See spec/rpl 4.2, 5, 6; docs/IR.md.
#pragma once

#include "compiler/emit/spirv/lower/region_lowering.h"

namespace kiln::spirv {

Ref LowerUnary(RegionLowering& region, const ir::UnaryInst& inst);
Ref LowerBinary(RegionLowering& region, const ir::BinaryInst& inst);
Ref Extract(RegionLowering& region, SymbolId type, Ref value, uint32_t index);
Ref LowerConstruct(RegionLowering& region, const ir::ConstructInst& inst);
Ref LowerSplat(RegionLowering& region, const ir::SplatInst& inst);
Ref LowerSwizzle(RegionLowering& region, const ir::SwizzleInst& inst);
Ref LowerConvert(RegionLowering& region, const ir::ConvertInst& inst);
Ref LowerBitcast(RegionLowering& region, const ir::BitcastInst& inst);
Ref LowerInsert(RegionLowering& region, const ir::InsertInst& inst);
// A vector of that type with one value everywhere; a scalar is that value.
Ref Splat(RegionLowering& region, ir::TypeId type, Ref scalar);
Ref LowerSelect(RegionLowering& region, const ir::SelectInst& inst);
Ref LowerBuiltin(RegionLowering& region, const ir::BuiltinCallInst& inst);

}  // namespace kiln::spirv
