// SPDX-License-Identifier: MIT
// The order of an interface where groups decide it. See spec/rpl 8.1 step 3.
#pragma once

#include "compiler/ir/module.h"

namespace kiln::resolve {

// The place of a declaration among the groups of its module; negative: it has none.
int GroupOf(const ir::ModuleView& module, const ir::Decl& decl);

}  // namespace kiln::resolve
