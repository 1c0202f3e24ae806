// SPDX-License-Identifier: MIT
// One specialised region -> one relocatable code object. Words are written directly; what only a
// layout knows cannot reach code, because no layout is given. spec/architecture 10.4; spec/rpl 11;
// docs/IR.md.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/ir/specialised.h"
#include "compiler/target/target.h"

namespace kiln::spirv {

// The code object is added to the table, but not bound: passes may have made `source` from the one
// that a variant refers to. Requires: every buffer and push constant it mentions was lowered
// (LowerDecl).
CodeObjectId Lower(const ir::SpecialisedRegion& source, const target::Target& target,
                   CodeObjectTable& table);

// Lowers and binds every declaration and region of the variant that is new to the table. Gives the
// entry points whose code alone is larger than a module may be: not all of it was lowered, so
// nothing of the variant can be assembled.
std::vector<uint32_t> Prepare(const ir::SpecialisedProgram& variant, CodeObjectTable& table);

}  // namespace kiln::spirv
