// SPDX-License-Identifier: MIT
// Proofs that a form is what docs/IR.md says, so that all later code may trust it.
#pragma once

#include "compiler/base/result.h"
#include "compiler/ir/module.h"
#include "compiler/ir/specialised.h"

namespace kiln::ir {

// Every id, list, block, region and string of an opened image is in range, backwards where it has
// to be, and nested at most kMaxNesting deep; enumerations hold enumerators. Every byte may be
// hostile. Time and memory are linear in the size of the image.
// Errors: kCorrupt.
Result<void> VerifyIds(const ModuleView& module);

// The rules of specialised IR: ids, order, blocks, and the type of every instruction. Alone, what
// other regions and declarations say is taken as it is; a variant is checked as a whole: names
// belong to enclosing regions, globals to the interface, arguments to signatures. Errors:
// kInternal, because specialised IR is made by kiln.
Result<void> Verify(const SpecialisedRegion& region, const Pool& pool);
Result<void> Verify(const SpecialisedProgram& variant);

}  // namespace kiln::ir
