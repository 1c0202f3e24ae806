// SPDX-License-Identifier: MIT
// The stable text of a layout: what `--stage=layout` prints and goldens compare. Sections of
// containers and blocks follow the interface in order. Spec: layout.md 14.2.
#pragma once

#include <string>

#include "compiler/ir/closed.h"
#include "compiler/layout/bytes.h"
#include "compiler/layout/layout.h"

namespace kiln::layout {

// Requires: `layout` is of `variant`, `types` of its pool.
std::string DumpLayout(const ir::ClosedVariant& variant, const Layout& layout, TypeLayouts& types);

}  // namespace kiln::layout
