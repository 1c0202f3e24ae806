// SPDX-License-Identifier: MIT
// Syntax tree -> open module. Nothing is typed and no global name is bound: that waits for option
// values. What does not depend on them is done here: local names get their visible declarations,
// inbuilt types and functions their ids, literals their values. Spec: docs/IR.md, spec/rpl 8.5, 8.6
#pragma once

#include <string_view>

#include "compiler/base/digest.h"
#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/lex.h"
#include "compiler/ir/module.h"

namespace kiln::rpl {

// Requires: a tree without errors.
ir::Module Lower(std::string_view text, const LexResult& lexed, const Ast& ast,
                 const Hash128& fingerprint);

}  // namespace kiln::rpl
