// SPDX-License-Identifier: MIT
// One specialised region -> one relocatable piece. Words are written directly; what only a layout
// knows cannot reach code, because no layout is given. spec/architecture 10.4; spec/rpl 11;
// docs/IR.md.
#pragma once

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/ir/specialised.h"
#include "compiler/target/target.h"

namespace kiln::spirv {

// The piece is added to the table, but not bound: passes may have made `segment` from the one that
// a variant refers to. Requires: every buffer and push constant it mentions was lowered
// (LowerDecl).
CodeObjectId Lower(const ir::SpecialisedRegion& segment, const target::Target& target,
                   CodeObjectTable& table);

// Lowers and binds every declaration and segment of the variant that is new to the table.
void Prepare(const ir::SpecialisedProgram& variant, CodeObjectTable& table);

}  // namespace kiln::spirv
