// SPDX-License-Identifier: MIT
// Statements that change memory, and calls.
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// Invalid where an error was said, or nothing is left to do.
StmtId CheckAssignment(CheckContext& context, const syntax::Stmt& stmt);
StmtId CheckIncrement(CheckContext& context, const syntax::Stmt& stmt);
StmtId CheckCallStatement(CheckContext& context, const syntax::Stmt& stmt);

}  // namespace kiln::wgsl::front
