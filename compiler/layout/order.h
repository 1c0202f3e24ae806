// SPDX-License-Identifier: MIT
// The order in which the declarations of one module are numbered: by group, inside a group as
// written. Spec: layout.md 7.4; rpl.md 8.1.
#pragma once

#include <cstdint>

#include "compiler/ir/closed.h"
#include "compiler/ir/types.h"

namespace kiln::layout {

// Rank of the group of an interface declaration: containers, uniform buffers, read-only storage
// buffers, push constants, samplers, images by type, read-write storage buffers, storage images.
uint32_t GroupOf(const ir::Pool& pool, const ir::ClosedDecl& decl);

}  // namespace kiln::layout
