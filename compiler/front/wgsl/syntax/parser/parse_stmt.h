// SPDX-License-Identifier: MIT
// Statements.
#pragma once

#include "compiler/front/wgsl/syntax/parser/parse_context.h"

namespace kiln::wgsl::front::syntax {

// Does the block have a scope of its own, or that of the parameters?
enum class BlockScope : uint8_t { kOwn, kOfParameters };
// `{` first.
StmtId ParseBlock(ParseContext& context, BlockScope scope = BlockScope::kOwn);

// `var<space, access> name : type = value`, from `var` on, without `;`. Also of the module.
struct VarParts {
  ListId words;
  uint32_t token = 0;
  ExprId type, value;
};
VarParts ParseVar(ParseContext& context);
// `name : type = value` of `let`, `const` and `override`, from the keyword on.
VarParts ParseNamedValue(ParseContext& context);

}  // namespace kiln::wgsl::front::syntax
