// SPDX-License-Identifier: MIT
// Functions of textures, by the rows of textures.def.
#pragma once

#include <span>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// The arguments of the row stand in its order; a missing offset is missing in the list.
ExprId CheckTextureCall(CheckContext& context, Function function, std::span<const ExprId> arguments,
                        TokenRange at);

}  // namespace kiln::wgsl::front
