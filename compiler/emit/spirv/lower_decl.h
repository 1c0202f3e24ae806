// SPDX-License-Identifier: MIT
// Code objects of specialised declarations: one for each variable of the interface, with slots for
// set, binding and location, and one for the head of a function. See spec/rpl 11.2, 11.4.
#pragma once

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/ir/specialised.h"

namespace kiln::spirv {

// Binds `decl` in the table. Requires: a declaration of an interface, or a function.
void LowerDecl(const ir::SpecialisedDecl& decl, CodeObjectTable& table);

// The variable of a row of an interface, made on first mention. Equal rows are one variable.
SymbolId IoVariableOf(const ir::InterfaceRow& row, CodeObjectTable& table);
spv::StorageClass StorageOf(const ir::InterfaceRow& row);

// The variable of the stage, made on first mention.
SymbolId StageVariableOf(ir::StageVariable variable, CodeObjectTable& table);
spv::StorageClass StorageOf(ir::StageVariable variable);

}  // namespace kiln::spirv
