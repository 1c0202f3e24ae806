// SPDX-License-Identifier: MIT
// Zero in workgroup memory, at the start of an entry point.
#pragma once

#include <span>

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// `number`: that of the invocation in its workgroup.
void ZeroShared(LowerContext& context, ir::InstId number, std::span<const GlobalId> shared);

}  // namespace kiln::wgsl::front
