// SPDX-License-Identifier: MIT
// Syntax tree -> checked module, or everything that is wrong with it. The face of this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/common/source_index.h"
#include "compiler/front/wgsl/check/tree.h"
#include "compiler/front/wgsl/syntax/ast.h"

namespace kiln::wgsl::front {

struct CheckResult {
  Unit unit;
  std::vector<Diagnostic> diagnostics;
};
// Requires: the tree has no syntax error. `mentions` gets what each name means; null: nobody asks.
CheckResult Check(const TokenStream& stream, const syntax::Ast& ast, uint32_t module,
                  const LanguageLimits& limits = {},
                  std::vector<kiln::front::Mention>* mentions = nullptr);

}  // namespace kiln::wgsl::front
