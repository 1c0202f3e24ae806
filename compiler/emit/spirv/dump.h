// SPDX-License-Identifier: MIT
// Text of pieces, for `--stage=pieces` and for people: one line per instruction. "+3" is own id 3,
// "<binding>" a slot, a name in braces a symbol. Depends on the variant and the target only.
#pragma once

#include <string>

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/ir/specialised.h"

namespace kiln::spirv {

// Every piece of a variant: variables in the order of the interface, then functions with their live
// segments. Requires: everything in it was lowered (Prepare).
std::string DumpPieces(const ir::SpecialisedProgram& variant, const CodeObjectTable& table);

// One piece. Declarations and locals are numbers, since a piece alone does not know their names.
std::string DumpPiece(CodeObjectId piece, const CodeObjectTable& table);

}  // namespace kiln::spirv
