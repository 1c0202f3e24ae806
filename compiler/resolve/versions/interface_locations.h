// SPDX-License-Identifier: MIT
// The locations of rows: those that are given, those that follow from the stage before, and free
// ones for the others. See docs/IR.md, "Entry points".
#pragma once

#include <vector>

#include "compiler/resolve/versions/interface_rows.h"

namespace kiln::resolve {

// Locates the rows of the entry points of one variant, in stage order; their attributes are whole
// then. False: something is wrong.
// Diagnostics: HLSL5010, HLSL5011, LAY2001, LAY2007, LIM1001.
bool Locate(std::span<InterfaceDraft> drafts, const ir::Pool& pool,
            std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
