// SPDX-License-Identifier: MIT
// The operations of images that typed modules have. Private to this folder.
#pragma once

#include <optional>

#include "compiler/emit/wgsl/lower/region_lowering.h"

namespace kiln::wgsl {

ir::ImageTraits TraitsOfImage(const RegionLowering& region, const ir::ImageInst& inst);
// A texture of depths, whose samples are one number.
bool IsDepthTexture(const ir::ImageTraits& traits);
// The operand behind a keyword; of gradients the first, and where it stands among all operands.
size_t PlaceOfOperand(const ir::ImageInst& inst, ir::ImageOperand keyword);
std::optional<ir::InstId> OperandOf(const RegionLowering& region, const ir::ImageInst& inst,
                                    ir::ImageOperand keyword);
void LowerTexture(RegionLowering& region, ir::InstId id, const ir::ImageInst& inst);

}  // namespace kiln::wgsl
