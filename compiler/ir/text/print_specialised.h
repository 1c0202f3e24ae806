// SPDX-License-Identifier: MIT
// Text of specialised forms. Deterministic: ids are numbered by position in the text, never by row
// of a pool. parse_specialised.h reads what is written here; the grammar is in docs/IR.md.
#pragma once

#include <string>

#include "compiler/ir/specialised.h"

namespace kiln::ir {

std::string Print(const SpecialisedProgram& variant);
// Alone: declarations and names of enclosing regions are called by the order of their mention.
std::string Print(const SpecialisedRegion& region, const Pool& pool);
std::string Print(const SpecialisedDecl& decl, const Pool& pool);

}  // namespace kiln::ir
