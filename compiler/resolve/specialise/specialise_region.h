// SPDX-License-Identifier: MIT
// Specialises one region: binds its names, types its expressions, expands aliases and copies of
// calls, and leaves an insertion point where a conditional scope was cut out. Generic rows +
// results of queries -> specialised rows.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

// A pure function of the program and of what it asks. Diagnostics of the region itself only: not
// of nested regions, callees or declarations. See spec/rpl 4 to 6, 8.5 to 8.9, 11.3; docs/IR.md.
Diagnosed<ir::SpecialisedRegion> SpecialiseRegion(const Program& program, ir::RegionId id,
                                                  VariantEvaluator& answers);
// The same in the memory of a region that nobody needs any more.
void SpecialiseRegion(const Program& program, ir::RegionId id, VariantEvaluator& answers,
                      Diagnosed<ir::SpecialisedRegion>& result);

}  // namespace kiln::resolve
