// SPDX-License-Identifier: MIT
// Values of operators, constructors and inbuilt functions. Private to this folder.
#pragma once

#include "compiler/emit/wgsl/lower/region_lowering.h"

namespace kiln::wgsl {

Expr ConstantExpr(RegionLowering& region, ir::ConstId constant);
void LowerUnary(RegionLowering& region, ir::InstId id, const ir::UnaryInst& inst);
void LowerBinary(RegionLowering& region, ir::InstId id, const ir::BinaryInst& inst);
void LowerConstruct(RegionLowering& region, ir::InstId id, const ir::ConstructInst& inst);
void LowerSplat(RegionLowering& region, ir::InstId id, const ir::SplatInst& inst);
void LowerConvert(RegionLowering& region, ir::InstId id, const ir::ConvertInst& inst);
void LowerExtract(RegionLowering& region, ir::InstId id, const ir::ExtractInst& inst);
void LowerSwizzle(RegionLowering& region, ir::InstId id, const ir::SwizzleInst& inst);
void LowerSelect(RegionLowering& region, ir::InstId id, const ir::SelectInst& inst);
void LowerBuiltin(RegionLowering& region, ir::InstId id, const ir::BuiltinCallInst& inst);

}  // namespace kiln::wgsl
