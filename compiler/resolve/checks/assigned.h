// SPDX-License-Identifier: MIT
// Reads of local variables that no assignment precedes on any path (RPL6043, spec/rpl 8.8).
//
// A specialised region carries a summary of what it does to variables that are declared without a
// value (FlowOf); only the walk knows which regions are live, so it looks at the summaries of a
// function together (CheckAssigned).
#pragma once

#include <span>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

// Where a variable without a value is declared: before the row `before` of the region, in
// a block that lies `depth` blocks deep.
struct BareDeclaration {
  uint32_t before = 0;
  uint32_t depth = 0;
  ir::LocalId local;
};

// The summary of a specialised region. Empty if its function declares no variable without a value.
std::vector<ir::AssignmentEvent> FlowOf(const Program& program, const ir::SpecialisedRegion& region,
                                        std::span<const BareDeclaration> declarations);

// Warns of every such read in the live regions of a function.
void CheckAssigned(const Program& program, const ir::FunctionRef& function,
                   std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
