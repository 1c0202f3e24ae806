// SPDX-License-Identifier: MIT
// Text of code objects, for `--stage=objects` and for people: one line per instruction. "+3" is own
// id 3,
// "<binding>" a slot, a name in braces a symbol. Depends on the variant and the target only.
#pragma once

#include <string>

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/ir/specialised.h"

namespace kiln::spirv {

// Every code object of a variant: variables in the order of the interface, then functions with
// their live regions. Requires: everything in it was lowered (Prepare).
std::string DumpCodeObjects(const ir::SpecialisedProgram& variant, const CodeObjectTable& table);

// One code object. Declarations and locals are numbers, since a code object alone does not know
// their names.
std::string DumpCodeObject(CodeObjectId object, const CodeObjectTable& table);

}  // namespace kiln::spirv
