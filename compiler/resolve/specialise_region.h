// SPDX-License-Identifier: MIT
// Closes one segment: binds its names, types its expressions, expands aliases and copies of calls,
// and leaves a hole where a conditional scope was cut out. Open rows + answers -> closed rows.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/variant_evaluator.h"

namespace kiln::resolve {

// A pure function of the program and of what it asks. Diagnostics of the segment itself only: not
// of nested segments, callees or declarations. See spec/rpl 4 to 6, 8.5 to 8.9, 11.3; docs/IR.md.
Diagnosed<ir::SpecialisedRegion> SpecialiseRegion(const Program& program, ir::RegionId segment,
                                                   VariantEvaluator& answers);
// The same in the memory of a segment that nobody needs any more.
void SpecialiseRegion(const Program& program, ir::RegionId segment, VariantEvaluator& answers,
                       Diagnosed<ir::SpecialisedRegion>& result);

}  // namespace kiln::resolve
