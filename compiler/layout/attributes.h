// SPDX-License-Identifier: MIT
// Packed vertex data: one container of attributes -> offsets and formats of its fields, and the
// stride of its buffer. Spec: layout.md 4.8; rpl.md 10.2.
#pragma once

#include <string_view>

#include "compiler/ir/closed.h"
#include "compiler/ir/types.h"
#include "compiler/layout/layout.h"

namespace kiln::layout {

std::string_view ItemFormatText(ItemFormat format);  // "snorm16"
uint32_t ItemSize(ItemFormat format);                // bytes of one component: 1, 2, 4

// Locations that a field takes: 1 for a vector, one for each column of a matrix.
inline uint32_t LocationsOf(const ir::Type& type) {
  return type.kind == ir::TypeKind::kMatrix ? type.columns : 1;
}

// Fields in order with offsets and formats, and the stride; locations and bindings are left 0.
// Requires: a live container of attributes whose pack formats exist.
VertexSource PackAttributes(const ir::Pool& pool, const ir::ClosedDecl& container);

}  // namespace kiln::layout
