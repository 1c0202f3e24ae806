// SPDX-License-Identifier: MIT
// Text of pieces, for `--stage=pieces` and for people: one line per instruction. "+3" is own id 3,
// "<binding>" a slot, a name in braces a symbol. Depends on the variant and the target only.
#pragma once

#include <string>

#include "compiler/emit/spirv/piece_table.h"
#include "compiler/ir/closed.h"

namespace kiln::spirv {

// Every piece of a variant: variables in the order of the interface, then functions with their live
// segments. Requires: everything in it was lowered (Prepare).
std::string DumpPieces(const ir::ClosedVariant& variant, const PieceTable& table);

// One piece. Declarations and locals are numbers, since a piece alone does not know their names.
std::string DumpPiece(PieceId piece, const PieceTable& table);

}  // namespace kiln::spirv
