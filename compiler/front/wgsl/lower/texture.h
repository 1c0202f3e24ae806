// SPDX-License-Identifier: MIT
// Functions of textures as operations of images.
#pragma once

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// Invalid where it gives nothing.
ir::InstId TextureOperation(LowerContext& context, const Expr& expr);

}  // namespace kiln::wgsl::front
