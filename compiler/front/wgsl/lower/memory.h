// SPDX-License-Identifier: MIT
// Atomics, barriers, lengths of arrays.
#pragma once

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// Invalid where it gives nothing.
ir::InstId MemoryOperation(LowerContext& context, const Expr& expr);
// A barrier of the workgroup that orders the accesses to some kinds of memory.
void Barrier(LowerContext& context, std::initializer_list<ir::MemoryKind> kinds);

}  // namespace kiln::wgsl::front
