// SPDX-License-Identifier: MIT
// Zero in workgroup memory, at the start of an entry point.
#pragma once

#include <span>

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// `index`: the parameter with the number of the invocation in its workgroup.
void ZeroShared(LowerContext& context, ir::LocalId index, std::span<const GlobalId> shared);

}  // namespace kiln::wgsl::front
