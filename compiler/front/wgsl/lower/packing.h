// SPDX-License-Identifier: MIT
// Packing of bytes that is no builtin of the IR.
#pragma once

#include <span>

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// pack4xI8 and its like, unpack4xI8, dot4U8Packed. Requires: one of them.
ir::InstId Packing(LowerContext& context, Function function, std::span<const ir::InstId> operands);

}  // namespace kiln::wgsl::front
