// SPDX-License-Identifier: MIT
// What may lie in a struct, buffer or push constant: the leaf rule and the runtime tail rule of
// spec/rpl 10.3. Sizes are checked by layout, which knows them.
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

// Diagnostics: RPL4050, RPL4051, RPL4052. Requires: a struct, buffer or push constant whose type is
// specialised.
void CheckMemory(const Program& program, const ir::Pool& pool,
                 const ir::SpecialisedDecl& specialised, std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
