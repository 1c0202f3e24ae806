// SPDX-License-Identifier: MIT
// Tokens -> syntax tree, or every syntax error of the source. The face of this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/wgsl/syntax/ast.h"
#include "compiler/front/wgsl/token.h"

namespace kiln::wgsl::front::syntax {

struct ParseResult {
  Ast ast;
  std::vector<Diagnostic> diagnostics;  // WGSL1001, WGSL1004, WGSL1007
};

// The tree of a source with errors has what could be read.
ParseResult Parse(const TokenStream& stream, uint32_t module, const LanguageLimits& limits = {});

}  // namespace kiln::wgsl::front::syntax
